package catalogimport

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

const (
	rulesFile      = "endpoint-rule-set-1.json"
	partitionsFile = "partitions.json"
)

// partition is a group of regions of its own.
type partition struct {
	ID      string              `json:"id"`
	Regions map[string]struct{} `json:"regions"`
	// Outputs are what rules read of a partition: dnsSuffix and others.
	Outputs map[string]any `json:"outputs"`
}

// regions are the names of the partition's regions, sorted, without the one
// that stands for all.
func (p *partition) regions() []string {
	return slices.DeleteFunc(namesOf(p.Regions), func(name string) bool { return strings.HasSuffix(name, "-global") })
}

func (p *partition) output(name string) string {
	text, _ := p.Outputs[name].(string)
	return text
}

// readPartitions reads the partitions. A folder without the file knows none.
func (b *botocoreFolder) readPartitions() error {
	text, name, err := b.read(partitionsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var file struct {
		Partitions []*partition `json:"partitions"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return &FileError{name, ErrModel, err}
	}
	for _, p := range file.Partitions {
		if p == nil || p.ID == "" || p.output("dnsSuffix") == "" {
			return &FileError{name, ErrModel, errors.New("a partition needs an id and the output dnsSuffix")}
		}
	}
	b.partitions = file.Partitions
	return nil
}

// endpoints returns what works out the endpoint of an operation from the rules
// of its service. Without rules it is the one of the model's metadata.
func (b *botocoreFolder) endpoints(key string, of *botocoreModel, known catalog.Endpoint) (func(operation string) (catalog.Endpoint, error), error) {
	text, name, err := b.read(path.Join(key, b.versions[key], rulesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return func(string) (catalog.Endpoint, error) { return known, nil }, nil
	} else if err != nil {
		return nil, err
	}
	rules := &ruleSet{partitions: b.partitions}
	if err := json.Unmarshal(text, rules); err != nil {
		return nil, &FileError{name, ErrModel, err}
	}
	worked := map[string]catalog.Endpoint{} // by parameters
	return func(operation string) (catalog.Endpoint, error) {
		parameters := map[string]any{}
		o := of.Operations[operation]
		for parameter, value := range o.StaticParameters {
			// This one is for a bucket that is a directory, and for no bucket.
			if parameter != "UseS3ExpressControlEndpoint" || !strings.Contains(o.HTTP.URI, "{Bucket}") {
				parameters[parameter] = value.Value
			}
		}
		id := fmt.Sprint(parameters) // maps print in order
		if e, ok := worked[id]; ok {
			return e, nil
		}
		e, err := rules.endpoint(known, parameters)
		if err != nil {
			return e, &FileError{name, ErrModel, fmt.Errorf("operation %s: %w", operation, err)}
		}
		worked[id] = e
		return e, nil
	}, nil
}

// address is where the rules lead in a region.
type address struct{ host, signingRegion string }

// endpoint describes where the rules lead, in all regions, starting from what
// the metadata says.
func (r *ruleSet) endpoint(known catalog.Endpoint, parameters map[string]any) (catalog.Endpoint, error) {
	e, found, err := r.place(known, parameters)
	if err != nil || len(found) == 0 {
		return e, err
	}
	for _, variant := range []struct {
		to         **catalog.Endpoint
		fips, dual bool
	}{{&e.FIPS, true, false}, {&e.Dual, false, true}, {&e.FIPSDual, true, true}} {
		// Rules without UseDualStack have one endpoint for both, as the SDK's clients do.
		if _, has := r.Parameters["UseFIPS"]; variant.fips && !has {
			continue
		}
		asked := maps.Clone(parameters)
		asked["UseFIPS"], asked["UseDualStack"] = variant.fips, variant.dual
		v, found, err := r.place(catalog.Endpoint{Prefix: known.Prefix}, asked)
		if err != nil {
			return e, err
		}
		if len(found) == 0 {
			continue
		}
		v.SigningName = ""
		for _, p := range r.partitions {
			if !slices.ContainsFunc(p.regions(), func(region string) bool { return found[region].host != "" }) {
				v.Without = append(v.Without, p.ID)
			}
		}
		*variant.to = &v
	}
	return e, nil
}

// place describes where the rules lead, and where that is in each region.
func (r *ruleSet) place(known catalog.Endpoint, parameters map[string]any) (catalog.Endpoint, map[string]address, error) {
	found := map[string]address{} // by region
	for _, p := range r.partitions {
		for _, region := range p.regions() {
			to, err := r.resolve(region, parameters)
			if errors.Is(err, errNoEndpoint) {
				continue
			} else if err != nil {
				return known, nil, err
			}
			signing := address{to.host(), to.signing("signingRegion")}
			if name := to.signing("signingName"); name != "" {
				known.SigningName = name
			}
			if signing.host == "" {
				return known, nil, fmt.Errorf("in %s the rules lead to %q, which is not an address of a host", region, to.URL)
			}
			if signing.signingRegion == region {
				signing.signingRegion = ""
			}
			found[region] = signing
		}
	}
	return r.describe(known, found), found, nil
}

// describe says briefly where a service is: by the rule for all regions, with
// the partition's one suffix or the other, or in one place for all of a
// partition; and in which regions it is elsewhere.
func (r *ruleSet) describe(e catalog.Endpoint, found map[string]address) catalog.Endpoint {
	if len(found) == 0 {
		return e
	}
	if global := r.global(found); global != nil {
		e.Global = global
		return e
	}
	e.Prefix, e.DualStack = r.form(e, found)
	for _, p := range r.partitions {
		for _, region := range p.regions() {
			if to, ok := found[region]; ok && to.host != hostName(e, p, region) {
				if e.Hosts == nil {
					e.Hosts = map[string]string{}
				}
				e.Hosts[region] = to.host
			}
		}
	}
	return e
}

// hostName is the host by the rule.
func hostName(e catalog.Endpoint, p *partition, region string) string {
	if e.DualStack {
		return e.Prefix + "." + region + "." + p.output("dualStackDnsSuffix")
	}
	return e.Prefix + "." + region + "." + p.output("dnsSuffix")
}

// form is the prefix and suffix that fit the most regions. Where several fit as
// many, it is what the metadata says.
func (r *ruleSet) form(e catalog.Endpoint, found map[string]address) (prefix string, dualStack bool) {
	type form struct {
		prefix    string
		dualStack bool
	}
	fits := map[form]int{}
	for _, p := range r.partitions {
		for _, region := range p.regions() {
			for _, dualStack := range []bool{false, true} {
				suffix := hostName(catalog.Endpoint{DualStack: dualStack}, p, region)
				if prefix, ok := strings.CutSuffix(found[region].host, suffix); ok && prefix != "" {
					fits[form{prefix, dualStack}]++
				}
			}
		}
	}
	best := form{e.Prefix, false}
	others := slices.SortedFunc(maps.Keys(fits), func(a, b form) int {
		return cmp.Or(strings.Compare(a.prefix, b.prefix), strings.Compare(strconv.FormatBool(a.dualStack), strconv.FormatBool(b.dualStack)))
	})
	for _, f := range append([]form{{e.Prefix, true}}, others...) {
		if fits[f] > fits[best] {
			best = f
		}
	}
	return best.prefix, best.dualStack
}

// global returns the one endpoint of each partition, nil if the first partition
// has several.
func (r *ruleSet) global(found map[string]address) map[string]catalog.GlobalEndpoint {
	global := map[string]catalog.GlobalEndpoint{}
	for i, p := range r.partitions {
		one := map[string]bool{}
		var last, in string
		for _, region := range p.regions() {
			if to, ok := found[region]; ok {
				one[to.host] = true
				last, in = to.host, region
				if to.signingRegion != "" {
					in = to.signingRegion
				}
			}
		}
		switch {
		case len(one) == 1 && (i > 0 || len(p.Regions) > 1):
			global[p.ID] = catalog.GlobalEndpoint{Hostname: last, Region: in}
		case i == 0:
			return nil
		}
	}
	return global
}
