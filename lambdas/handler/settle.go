package handler

import (
	"os"
	"strings"

	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// unreachable are the StoreFlags of a store that is in the memory of a process.
const unreachable = "none"

// noCommand says what to do about a record that no command reaches.
const noCommand = "No command reaches the record, which is in the memory of jobpoller: start another execution. With --data FOLDER it can be settled."

// settleCommands are those by which a person says what became of a start; empty if there
// are none.
func (s *starter) settleCommands() (adopt, abandon string) {
	if s.StoreFlags == unreachable {
		return "", ""
	}
	key := s.event.Key
	flags := storeFlags(s.Store.Location(key), key)
	if s.StoreFlags != "" {
		flags = " " + s.StoreFlags
	}
	if key.Poller != DefaultPoller {
		flags += " --poller " + shell.Quote(key.Poller)
	}
	if key.Scope != "" {
		flags += " --scope " + shell.Quote(key.Scope)
	}
	job := ` --ref '{"NAME": "VALUE"}'`
	if listed, ok := s.driver.(jobs.Listed); ok && listed.IsInCatalogue() {
		job = " JOB_ID"
	}
	command := s.StoreVariables + "jobpoller records "
	execution := shell.Quote(key.ExecutionARN)
	return command + "adopt " + execution + job + flags, command + "abandon " + execution + flags
}

// endpointVariables are the variables that name where the store of a location is, as a
// shell reads them before a command, each with a space behind.
func endpointVariables(location string) string {
	if strings.EqualFold(os.Getenv(envIgnoreEndpoints), "true") {
		return ""
	}
	scheme, _, _ := strings.Cut(location, "://")
	var text strings.Builder
	for _, name := range []string{envEndpoint, envEndpoint + "_" + strings.ToUpper(scheme)} {
		if url := os.Getenv(name); url != "" {
			text.WriteString(name + "=" + shell.Quote(withoutSecrets(url)) + " ")
		}
	}
	return text.String()
}

// storeFlags are the command's flags for the store in which a record has a location; empty
// for a store that the command cannot open.
func storeFlags(location string, key startrecord.Key) string {
	scheme, place, _ := strings.Cut(strings.TrimSuffix(location, key.Path()), "://")
	flag, known := map[string]string{"s3": " --bucket ", "dynamodb": " --table "}[scheme]
	if !known {
		return ""
	}
	arn := ""
	if strings.HasPrefix(place, "arn:") { // whose resource is table/NAME
		arn, place, _ = strings.Cut(place, "/")
		arn += "/"
	}
	store, prefix, _ := strings.Cut(place, "/")
	flags := flag + shell.Quote(arn+store)
	if prefix = strings.TrimSuffix(prefix, "/"); prefix != "" {
		flags += " --prefix " + shell.Quote(prefix)
	}
	return flags
}
