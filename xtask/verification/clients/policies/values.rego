# One rule for each kind of value that a decision may have.
package values

truth := true

lie := false

nothing := null

whole := 9007199254740991

fraction := 0.1

text := "héllo \"wörld\" 🦀"

list := [1, "two", null]

unique := {3, 1, 2}

object_of_all := {"a": {"b": [true]}, "ключ": 1}

absent if 1 == 2

echo := input

has_input if input == input

user := input.user.name

roles[name] contains role if some name, role in {"ann": "admin", "bob": "guest"}

dashed["a-b/c"] := "found"

default conflict := 0

conflict := 1 if input.conflict

conflict := 2 if input.conflict

broken := 1 / input.divisor

always_broken := 1 / data.zero

loud if print("heard", input)

deep.er["still"] := 3
