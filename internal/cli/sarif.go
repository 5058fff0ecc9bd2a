package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
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
		URI string `json:"uri"`
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
func sarifOf(found []finding) sarifLog {
	driver := sarifDriver{Name: "jobpoller", Version: version(), Rules: []sarifRule{{definitionRule, sarifText{"AWS rejects the definition"}}}}
	for _, r := range allRules() {
		driver.Rules = append(driver.Rules, sarifRule{r.Name, sarifText{r.About}})
	}
	run := sarifRun{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	levels := map[diag.Severity]string{diag.Error: "error", diag.Danger: "error", diag.Warning: "warning", diag.Note: "note"}
	for _, f := range found {
		place := sarifPlace{ArtifactLocation: sarifArtifact{fileURI(f.file)}}
		if f.problem.Line > 0 {
			place.Region = &sarifRegion{f.problem.Line, f.problem.Column}
		}
		location := sarifLocation{PhysicalLocation: place}
		if pointer := f.pointer(); pointer != "" {
			location.LogicalLocations = []sarifLogical{{pointer}}
		}
		key := baselineEntry(f).key()
		sum := sha256.Sum256([]byte(key.file + "\x00" + key.rule + "\x00" + key.pointer))
		run.Results = append(run.Results, sarifResult{
			RuleID: f.rule, Level: levels[f.problem.Severity], Message: sarifText{f.message()}, Locations: []sarifLocation{location},
			PartialFingerprints: map[string]string{"place/v1": hex.EncodeToString(sum[:])},
		})
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// fileURI is a relative reference, for code scanning looks for the file in the
// repository, or a URL of an absolute path.
func fileURI(file string) string {
	path := cleanName(file)
	if filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}).String()
	}
	return (&url.URL{Path: path}).String()
}
