package guarded

by_token := "for who has the token"

by_header := "for the blue team"
