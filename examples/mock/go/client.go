// Package client is what is tested: it asks whether a user may do something.
package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

var caller = http.Client{Timeout: time.Second}

// IsAllowed asks the engine for a decision.
func IsAllowed(engine, user string) (bool, error) {
	body, err := json.Marshal(map[string]any{"input": map[string]string{"user": user}})
	if err != nil {
		return false, err
	}
	answer, err := caller.Post(engine+"/v1/data/authz/allow", "application/json", bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return false, fmt.Errorf("the engine answers %s", answer.Status)
	}
	var decision struct {
		// Undefined is no result at all, and no permission.
		Result bool `json:"result"`
	}
	err = json.NewDecoder(answer.Body).Decode(&decision)
	return decision.Result, err
}
