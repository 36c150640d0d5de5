package a

p := data.a.n
