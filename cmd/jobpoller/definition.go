package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// substitutions are the values of placeholders, "Name=value".
type substitutions []string

// values takes them apart.
func (s substitutions) values() (map[string]string, error) {
	out := map[string]string{}
	for _, text := range s {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usage("--substitute must be Name=value, is %q", text)
		}
		out[name] = value
	}
	return out, nil
}

// readText reads a file, or standard input if its name is "-".
func readText(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, usage("standard input: %w", err)
		}
		return text, nil
	}
	text, err := os.ReadFile(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, usage("%w", err)
	}
	return text, nil
}

// readMachine reads a definition from a file, with its placeholders replaced.
func readMachine(name string, stdin io.Reader, s substitutions) (*asl.StateMachine, error) {
	text, err := readText(name, stdin)
	if err != nil {
		return nil, err
	}
	values, err := s.values()
	if err != nil {
		return nil, err
	}
	machine, err := asl.Parse(asl.Substitute(text, values))
	if err != nil {
		return nil, usage("%s: %w", name, err)
	}
	return machine, nil
}

// writeFile writes a file that a flag names.
func writeFile(flag, name string, text []byte) error {
	const mode = 0o644
	if err := os.WriteFile(name, text, mode); err != nil {
		return &exitError{exitFailed, fmt.Errorf("--%s: %w", flag, err)}
	}
	return nil
}
