package source

import (
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/shell"
)

// lookedUp is a lookup of Ansible.
var lookedUp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{\{\s*lookup\(\s*['"](?:ansible\.builtin\.)?(file|template)['"]\s*,\s*['"]([^'"{}]+)['"]\s*\)[^{}]*\}\}$`)
})

// ansibleModule is the module of Ansible that makes state machines.
const ansibleModule = "stepfunctions_state_machine"

// lookup reads a definition that Ansible takes from a file.
func (d *document) lookup(v *value) bool {
	found := lookedUp().FindStringSubmatch(strings.TrimSpace(v.text))
	if module := len(d.path) - 2; found == nil || module < 0 || !strings.HasSuffix(d.path[module].name, ansibleModule) {
		return false
	}
	r := d.machine()
	plugin, name := found[1], found[2]
	if plugin == "template" {
		source, _ := d.besides(d.file.name, d.searched(name, "templates/"))
		if strings.Contains(source, " ") {
			source = `"` + source + `"`
		}
		r.warn(v, d.pointer(), "Ansible renders %q, so the definition of %s is not checked. Render it first: "+
			"ansible localhost -m template -a %s -e @vars.yml, where vars.yml has the variables of the play. Then run: jobpoller lint rendered.json",
			name, r.d.Title(), shell.Quote("src="+source+" dest=rendered.json"))
	} else {
		r.d.Form = FormFile
		r.located(v, d.pointer(), d.searched(name, "files/"))
	}
	d.found = append(d.found, r.d)
	return true
}

// searched returns where a file lies that a playbook or a role names: beside it, or in
// its folder of such files.
func (d *document) searched(name, folder string) string {
	for _, folder := range []string{"", folder, "../" + folder} {
		if located, ok := d.besides(d.file.name, folder+name); ok {
			if _, err := d.readRegular(d.file.name, located); err == nil {
				return folder + name
			}
		}
	}
	return name
}
