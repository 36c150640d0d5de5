module example.com/mock

go 1.22
