# The default decision.
package system

main := object.union({"default": true}, object.filter(input, {"echo"})) if not input.silent
