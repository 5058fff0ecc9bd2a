package main

import (
	"bytes"
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

// readText reads a file that the command line names.
func readText(name string, in io.Reader) ([]byte, error) {
	text, err := readFile(name, in)
	if err != nil {
		return nil, usage("%w", err)
	}
	return text, nil
}

// readMachine reads a definition from a file, with its placeholders replaced.
func readMachine(name string, in io.Reader, s substitutions) (*asl.StateMachine, error) {
	text, err := readText(name, in)
	if err != nil {
		return nil, err
	}
	values, err := s.values()
	if err != nil {
		return nil, err
	}
	if text, err = substituted(name, text, values); err != nil {
		return nil, err
	}
	machine, err := asl.Parse(text)
	if err != nil && isRequest(text) {
		return nil, usage("%s is the request of a job, and no state machine: use --input %s", name, name)
	}
	if err != nil {
		return nil, usage("%s: %w", name, err)
	}
	return machine, nil
}

// substituted replaces the placeholders of a definition.
func substituted(file string, text []byte, values map[string]string) ([]byte, error) {
	for name := range values {
		if !bytes.Contains(text, []byte("${"+name+"}")) {
			return nil, usage("--substitute %s: %s has no placeholder ${%s}", name, file, name)
		}
	}
	return asl.Substitute(text, values), nil
}

// writeFile writes a file that a flag names.
func writeFile(flag, name string, text []byte) error {
	const mode = 0o644
	if err := os.WriteFile(name, text, mode); err != nil {
		return &exitError{exitFailed, fmt.Errorf("--%s: %w", flag, err)}
	}
	return nil
}
