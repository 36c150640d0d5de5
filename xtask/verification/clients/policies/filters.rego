# Conditions on the rows of `fruits`, and on those of `owners` that they are joined with.
# METADATA
# scope: package
# compile:
#   unknowns: [input.fruits, input.owners]
package filters

same_colour if input.fruits.colour == input.colour

other_colour if input.fruits.colour != input.colour

cheaper if input.fruits.price < input.price

at_most if input.fruits.price <= input.price

dearer if input.fruits.price > input.price

at_least if input.fruits.price >= input.price

one_of if input.fruits.colour in input.colours

none_of if not input.fruits.colour in input.colours

begins if startswith(input.fruits.name, input.text)

ends if endswith(input.fruits.name, input.text)

holds if contains(input.fruits.name, input.text)

both if {
	input.fruits.colour in input.colours
	input.fruits.price > input.price
}

either if input.fruits.colour in input.colours

either if input.fruits.price > input.price

of_owner if input.owners.name == input.user

of_owner if input.fruits.colour == "green"

without_price if input.fruits.price == null

columns if input.fruits.name == input.owners.name

flagged if input.fruits.ripe == true

never if {
	input.fruits.colour == "red"
	input.colours == "no list"
}

always if input.colours

for_admin if input.user == "admin"

for_admin if {
	input.user == "guest"
	input.fruits.colour == "red"
}

untranslatable if {
	every c in input.fruits.tags { c == "x" }
}

helper(colour) if colour == input.colour

helped if helper(input.fruits.colour)

# METADATA
# scope: document
# compile:
#   unknowns: [input.fruits]
#   mask_rule: data.filters.masks
masked if input.fruits.colour in input.colours

masks.fruits.price.replace.value := null if input.user != "admin"

masks.fruits.name.replace.value := "***" if input.user == "guest"

hidden.fruits.colour.replace.value := "hidden"
