# Everybody may do everything, but ask for what is guarded.
package system.authz

default allow := false

allow if not guarded

allow if {
	guarded
	input.identity == "letmein"
}

allow if {
	input.path == ["v1", "data", "guarded", "by_header"]
	input.headers["X-Team"] == ["blue"]
}

guarded if array.slice(input.path, 0, 3) == ["v1", "data", "guarded"]
