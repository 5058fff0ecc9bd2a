package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// The parts of a SARIF 2.1.0 log that code scanning reads. Source:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPlace     `json:"physicalLocation"`
		LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPlace struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI         string     `json:"uri"`
		Description *sarifText `json:"description,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

// sarifOf writes findings as a SARIF log. A DANGER is an error there, which knows
// three levels only.
func sarifOf(found []Finding) sarifLog {
	driver := sarifDriver{Name: "jobpoller", Version: kit.Version(), Rules: []sarifRule{{definitionRule, sarifText{"AWS rejects the definition"}}}}
	listed := map[string]bool{}
	for _, r := range append(allRules(), listedRule{Name: awsRule, About: "what AWS says of the definition"}) {
		if !listed[r.Name] { // a rule of definitions may be one of waiters, too
			listed[r.Name] = true
			driver.Rules = append(driver.Rules, sarifRule{r.Name, sarifText{r.About}})
		}
	}
	run := sarifRun{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	levels := map[diag.Severity]string{diag.Error: "error", diag.Danger: "error", diag.Warning: "warning", diag.Note: "note"}
	seen := map[findingKey]int{}
	for _, f := range found {
		place := sarifPlace{ArtifactLocation: artifactOf(f)}
		if f.Problem.Line > 0 {
			place.Region = &sarifRegion{f.Problem.Line, f.Problem.Column}
		}
		location := sarifLocation{PhysicalLocation: place}
		if pointer := f.pointer(); pointer != "" {
			location.LogicalLocations = []sarifLogical{{pointer}}
		}
		key := knownFinding{File: place.ArtifactLocation.URI, Rule: f.Rule, Pointer: f.pointer()}.key()
		seen[key]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", key.file, key.rule, key.pointer, seen[key]))
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, Level: levels[f.Problem.Severity], Message: sarifText{f.Message()}, Locations: []sarifLocation{location},
			PartialFingerprints: map[string]string{"place/v1": hex.EncodeToString(sum[:])},
		})
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// artifactOf is the file of a finding: a relative reference, for code scanning looks
// for the file in the repository, or a URL of an absolute path.
func artifactOf(f Finding) sarifArtifact {
	if f.file == source.Stdin {
		return sarifArtifact{URI: "stdin", Description: &sarifText{"the standard input"}}
	}
	name := f.nameInRepository()
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(name, "/")}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: name}).String()}
}
