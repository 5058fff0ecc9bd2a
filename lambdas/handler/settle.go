package handler

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// settleCommands are those by which a person says what became of a start.
func (s *starter) settleCommands() (adopt, abandon string) {
	key := s.event.Key
	flags := storeFlags(s.Store.Location(key), key)
	if key.Poller != DefaultPoller {
		flags += " --poller " + shell.Quote(key.Poller)
	}
	if key.Scope != "" {
		flags += " --scope " + shell.Quote(key.Scope)
	}
	const command = "jobpoller records "
	execution := shell.Quote(key.ExecutionARN)
	return command + "adopt " + execution + " JOB_ID" + flags, command + "abandon " + execution + flags
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
