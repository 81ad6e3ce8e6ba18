package main

import "os"

// writeToTerminal writes to the console, if there is one.
func writeToTerminal(message string) {
	console, err := os.OpenFile("CONOUT$", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer console.Close()
	_, _ = console.WriteString(message)
}

// closedAtStart is for systems whose runtime replaces a closed stream; on Windows
// the write itself fails.
func closedAtStart(*os.File) bool { return false }
