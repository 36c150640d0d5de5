// An adapter without a library: its client is net/http, as most Go programs ask an engine.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"
)

// caller is the client: an address, and what goes with every request.
type caller struct {
	http  http.Client
	url   string
	token string
}

// refused is an answer that says that nothing was done.
type refused struct {
	status  int
	message string
}

func (r *refused) Error() string { return r.message }

// ask sends one request, and hands over what is answered.
func (c *caller) ask(method, path, mediaType string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", mediaType)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, &refused{response.StatusCode, string(answer)}
	}
	return answer, nil
}

// result is the member of that name of an answer; nil where it has none.
func (c *caller) result(method, path string, body any) (json.RawMessage, error) {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	answer, err := c.ask(method, path, "application/json", sent)
	if err != nil || len(answer) == 0 {
		return nil, err
	}
	// A json.RawMessage cannot tell null from nothing; the map can.
	var members map[string]json.RawMessage
	if err := json.Unmarshal(answer, &members); err != nil {
		return nil, err
	}
	return members["result"], nil
}

func document(path []string) string {
	escaped := "/v1/data"
	for _, segment := range path {
		escaped += "/" + url.PathEscape(segment)
	}
	return escaped
}

func policy(id string) string {
	segments := strings.Split(id, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return "/v1/policies/" + strings.Join(segments, "/")
}

// line is what may stand in a line that is read.
type line struct {
	Do       string          `json:"do"`
	API      string          `json:"api"`
	URL      string          `json:"url"`
	Token    string          `json:"token"`
	Timeout  float64         `json:"timeout"`
	Path     []string        `json:"path"`
	Input    json.RawMessage `json:"input"`
	Document json.RawMessage `json:"document"`
	ID       string          `json:"id"`
	Policy   string          `json:"policy"`
}

type answer map[string]any

var unsupported = answer{"unsupported": true}

func value(given json.RawMessage, err error) (answer, error) {
	if given == nil {
		return answer{"undefined": true}, err
	}
	return answer{"value": given}, err
}

func done(err error) (answer, error) { return answer{"value": true}, err }

// run has the client do what a line says.
func (c *caller) run(asked line) (answer, error) {
	switch asked.Do {
	case "open":
		if asked.API != "engine" {
			return unsupported, nil
		}
		c.url, c.token = asked.URL, asked.Token
		c.http.Timeout = time.Duration(asked.Timeout * float64(time.Second))
		return answer{"value": answer{"name": "net/http", "version": runtime.Version()}}, nil
	case "decide":
		body := answer{}
		if asked.Input != nil {
			body["input"] = asked.Input
		}
		return value(c.result(http.MethodPost, document(asked.Path), body))
	case "get_data":
		return value(c.result(http.MethodGet, document(asked.Path), nil))
	case "put_data":
		_, err := c.ask(http.MethodPut, document(asked.Path), "application/json", asked.Document)
		return done(err)
	case "delete_data":
		_, err := c.ask(http.MethodDelete, document(asked.Path), "", nil)
		return done(err)
	case "put_policy":
		_, err := c.ask(http.MethodPut, policy(asked.ID), "text/plain", []byte(asked.Policy))
		return done(err)
	case "get_policy":
		found, err := c.result(http.MethodGet, policy(asked.ID), nil)
		if err != nil || found == nil {
			return value(nil, err)
		}
		var module struct{ Raw json.RawMessage }
		err = json.Unmarshal(found, &module)
		return value(module.Raw, err)
	case "delete_policy":
		_, err := c.ask(http.MethodDelete, policy(asked.ID), "", nil)
		return done(err)
	}
	return unsupported, nil
}

func tell(asked []byte, c *caller) answer {
	var read line
	strict := json.NewDecoder(bytes.NewReader(asked))
	// What has another member cannot be done.
	strict.DisallowUnknownFields()
	if strict.Decode(&read) != nil {
		return unsupported
	}
	told, err := c.run(read)
	if err == nil {
		return told
	}
	failure := answer{"kind": fmt.Sprintf("%T", err), "message": err.Error()}
	if refusal, ok := err.(*refused); ok {
		failure["status"] = refusal.status
	}
	return answer{"error": failure}
}
