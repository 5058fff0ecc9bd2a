// Package sbom writes down which modules programs are made of, as CycloneDX has it.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/jobpoller/jobpoller/internal/release/linked"
)

// Program is one of a release.
type Program struct {
	// Name says which, such as jobpoller_linux_amd64.
	Name    string
	Content []byte
	Modules []linked.Module
}

// Encode returns the bill of materials of a release: its programs with their sums, the
// modules, and which program contains which. The version is that of the specification
// which most readers know.
func Encode(version string, at time.Time, programs ...Program) ([]byte, error) {
	const name = "jobpoller"
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: at.UTC().Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: name + "@" + version, Type: cdx.ComponentTypeApplication, Name: name, Version: version, Licenses: licences("Apache-2.0"),
		},
	}
	release := cdx.Dependency{Ref: bom.Metadata.Component.BOMRef, Dependencies: new([]string)}
	dependencies := []cdx.Dependency{}
	modules := map[string]cdx.Component{}
	var components []cdx.Component
	for _, p := range programs {
		sum := sha256.Sum256(p.Content)
		components = append(components, cdx.Component{
			BOMRef: p.Name, Type: cdx.ComponentTypeApplication, Name: p.Name, Version: version, Licenses: licences("Apache-2.0"),
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		})
		*release.Dependencies = append(*release.Dependencies, p.Name)
		var parts []string
		for _, m := range p.Modules {
			c := component(m)
			modules[c.BOMRef] = c
			parts = append(parts, c.BOMRef)
		}
		dependencies = append(dependencies, cdx.Dependency{Ref: p.Name, Dependencies: &parts})
	}
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		components = append(components, modules[ref])
	}
	dependencies = append([]cdx.Dependency{release}, dependencies...)
	bom.Components, bom.Dependencies = &components, &dependencies
	var text bytes.Buffer
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6)
	return text.Bytes(), err
}

// component is a module. Its reference is its package URL.
func component(m linked.Module) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	return cdx.Component{
		BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url, Licenses: licences(m.Expression()),
	}
}

func licences(expression string) *cdx.Licenses {
	return &cdx.Licenses{{Expression: expression}}
}
