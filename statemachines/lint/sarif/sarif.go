// Package sarif writes findings as a SARIF log, which code scanning reads.
package sarif

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/baseline"
)

// Log is a SARIF 2.1.0 log, as JSON writes it. Source:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type Log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

// The parts that code scanning reads.
type (
	run struct {
		Tool       tool     `json:"tool"`
		ColumnKind string   `json:"columnKind"`
		Results    []result `json:"results"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		Rules   []rule `json:"rules"`
	}
	rule struct {
		ID               string `json:"id"`
		ShortDescription text   `json:"shortDescription"`
	}
	text struct {
		Text string `json:"text"`
	}
	suppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification,omitempty"`
	}
	result struct {
		RuleID              string            `json:"ruleId"`
		Level               string            `json:"level"`
		Message             text              `json:"message"`
		Locations           []location        `json:"locations"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		// Suppressions are nil in all results of a run, or in none.
		Suppressions []suppression `json:"suppressions,omitzero"`
	}
	location struct {
		PhysicalLocation place     `json:"physicalLocation"`
		LogicalLocations []logical `json:"logicalLocations,omitempty"`
	}
	place struct {
		ArtifactLocation artifact `json:"artifactLocation"`
		Region           *region  `json:"region,omitempty"`
	}
	artifact struct {
		URI         string `json:"uri"`
		Description *text  `json:"description,omitempty"`
	}
	region struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	logical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

// Finding is a finding in a file.
type Finding struct {
	// File is relative to the root of the repository, or absolute, or an ARN. About says what
	// it is where that is no file.
	File, About string
	Rule        string
	Pointer     string
	// Key is what makes it the same finding in another log; nil: File, Rule and Pointer.
	Key *baseline.Key
	// Problem has the place and the severity, and Message what to say of it.
	Problem diag.Problem
	Message string
	// Suppressed tells that a comment in the file ignores the finding; nil: none does.
	Suppressed *Suppression
}

// Suppression is why a finding does not count; without a Reason nobody says it.
type Suppression struct{ Reason string }

// levels are those of SARIF, which knows three. A DANGER is an error there.
var levels = map[diag.Severity]string{diag.Error: "error", diag.Danger: "error", diag.Warning: "warning", diag.Note: "note"}

// New is the log of what a version of jobpoller found by its rules. A rule that is listed
// twice counts once.
func New(version string, rules []lint.Rule, found []Finding) *Log {
	d := driver{Name: "jobpoller", Version: version, Rules: []rule{}}
	listed := map[string]bool{}
	for _, r := range rules {
		if !listed[r.Name] {
			listed[r.Name] = true
			d.Rules = append(d.Rules, rule{r.Name, text{r.About}})
		}
	}
	of := run{Tool: tool{d}, ColumnKind: "unicodeCodePoints", Results: []result{}}
	suppresses := slices.ContainsFunc(found, func(f Finding) bool { return f.Suppressed != nil })
	seen := map[baseline.Key]int{}
	for _, f := range found {
		at := location{PhysicalLocation: place{ArtifactLocation: f.artifact()}}
		if f.Problem.Line > 0 {
			at.PhysicalLocation.Region = &region{f.Problem.Line, f.Problem.Column}
		}
		if f.Pointer != "" {
			at.LogicalLocations = []logical{{f.Pointer}}
		}
		key := baseline.Finding{File: at.PhysicalLocation.ArtifactLocation.URI, Rule: f.Rule, Pointer: f.Pointer}.Key()
		if f.Key != nil {
			key = *f.Key
		}
		seen[key]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", key.File, key.Rule, key.Pointer, seen[key]))
		one := result{
			RuleID: f.Rule, Level: levels[f.Problem.Severity], Message: text{f.Message}, Locations: []location{at},
			PartialFingerprints: map[string]string{"place/v1": hex.EncodeToString(sum[:])},
		}
		if suppresses {
			one.Suppressions = []suppression{}
		}
		if f.Suppressed != nil {
			one.Suppressions = append(one.Suppressions, suppression{"inSource", f.Suppressed.Reason})
		}
		of.Results = append(of.Results, one)
	}
	return &Log{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []run{of}}
}

// artifact is the file: a relative reference, for code scanning looks for the file in the
// repository, or a URL of an absolute path, or the ARN.
func (f *Finding) artifact() artifact {
	a := artifact{URI: (&url.URL{Path: f.File}).String()}
	if name, ok := strings.CutPrefix(f.File, "arn:"); ok {
		a.URI = (&url.URL{Scheme: "arn", Opaque: (&url.URL{Path: name}).EscapedPath()}).String()
	} else if filepath.IsAbs(filepath.FromSlash(f.File)) {
		a.URI = (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(f.File, "/")}).String()
	}
	if f.About != "" {
		a.Description = &text{f.About}
	}
	return a
}
