package authz

allow if input.user in data.admins
