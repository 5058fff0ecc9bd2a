package release

import (
	"fmt"
	"regexp"
	"strings"
)

// version is what a release may be called: it is part of the names of files.
var version = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+~-]*$`)

// numbered is a version that people install: v1.2.3, or a candidate v1.2.3-rc.1.
var numbered = regexp.MustCompile(`^v?((?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2})(?:-(alpha|beta|rc)\.(0|[1-9]\d*))?$`)

// pythonStages are what Python calls stages before a version.
var pythonStages = map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}

// npmVersion is the version as npm has it. What git describes between two versions comes
// before all of them.
func (r *Release) npmVersion() string {
	parts := numbered.FindStringSubmatch(r.Version)
	switch {
	case parts == nil:
		return "0.0.0-dev-" + strings.NewReplacer(".", "-", "+", "-", "~", "-").Replace(r.Version)
	case parts[2] == "":
		return parts[1]
	}
	return parts[1] + "-" + parts[2] + "." + parts[3]
}

var notLocal = regexp.MustCompile(`[^0-9a-z]+`)

// pythonVersion is the version as Python has it. PyPI takes no local version, as one is
// that git describes.
func (r *Release) pythonVersion() string {
	parts := numbered.FindStringSubmatch(r.Version)
	switch {
	case parts == nil:
		return "0.0.0.dev0+" + strings.Trim(notLocal.ReplaceAllString(strings.ToLower("g."+r.Version), "."), ".")
	case parts[2] == "":
		return parts[1]
	}
	return parts[1] + pythonStages[parts[2]] + parts[3]
}

// tag is the version as a tag of an image, which has no plus sign and no tilde.
func (r *Release) tag() string {
	return strings.NewReplacer("+", "-", "~", "-").Replace(strings.TrimPrefix(r.Version, "v"))
}

func (r *Release) checkVersion() error {
	if !version.MatchString(r.Version) {
		return fmt.Errorf("the version %q is not one for a file's name: expected letters, digits and . + ~ -, such as v1.2.3", r.Version)
	}
	return nil
}
