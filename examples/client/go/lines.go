package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
)

// What every adapter does: a line is read, a line is written.
func main() {
	var c caller
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for {
		asked, err := input.ReadBytes('\n')
		if err != nil {
			if err != io.EOF {
				panic(err)
			}
			return
		}
		if err := output.Encode(tell(asked, &c)); err != nil {
			panic(err)
		}
	}
}
