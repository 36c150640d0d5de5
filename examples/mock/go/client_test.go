package client

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"testing"
)

// The addresses that the mock prints.
var mock struct{ Engine, Admin string }

func TestMain(m *testing.M) {
	program := os.Getenv("CONFORMANCE")
	if program == "" {
		program = "conformance"
	}
	command := exec.Command(program, "mock", "--exit-on-stdin-close", "../policies")
	command.Stderr = os.Stderr
	// As long as this is open, the mock runs.
	input, err := command.StdinPipe()
	if err != nil {
		panic(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := command.Start(); err != nil {
		panic(err)
	}
	if err := json.NewDecoder(output).Decode(&mock); err != nil {
		panic(err)
	}
	code := m.Run()
	input.Close()
	command.Wait()
	os.Exit(code)
}

func admin(t *testing.T, method, path string, shown any) {
	t.Helper()
	request, err := http.NewRequest(method, mock.Admin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, path, answer.Status)
	}
	if shown != nil {
		if err := json.NewDecoder(answer.Body).Decode(shown); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADecisionIsAskedForAsTheDocumentSays(t *testing.T) {
	admin(t, "POST", "/reset", nil)
	if allowed, err := IsAllowed(mock.Engine, "ann"); err != nil || !allowed {
		t.Fatal(allowed, err)
	}
	var received struct {
		Requests []struct{ Path, Body string }
	}
	admin(t, "GET", "/requests", &received)
	if len(received.Requests) != 1 {
		t.Fatal(received)
	}
	request := received.Requests[0]
	if request.Path != "/v1/data/authz/allow" || request.Body != `{"input":{"user":"ann"}}` {
		t.Fatal(request)
	}
}

func TestUndefinedIsNoPermission(t *testing.T) {
	admin(t, "POST", "/reset", nil)
	if allowed, err := IsAllowed(mock.Engine, "bob"); err != nil || allowed {
		t.Fatal(allowed, err)
	}
	admin(t, "PUT", "/faults/undefined", nil)
	if allowed, err := IsAllowed(mock.Engine, "ann"); err != nil || allowed {
		t.Fatal(allowed, err)
	}
}

func TestWhatIsBrokenIsAnError(t *testing.T) {
	for _, fault := range []string{"internal-error", "broken-json", "cut-body", "close", "hang"} {
		t.Run(fault, func(t *testing.T) {
			admin(t, "POST", "/reset", nil)
			admin(t, "PUT", "/faults/"+fault, nil)
			if allowed, err := IsAllowed(mock.Engine, "ann"); err == nil || allowed {
				t.Fatal(allowed, err)
			}
		})
	}
}
