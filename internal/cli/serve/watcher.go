package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/lint"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

const (
	// watchEvery is how often the files are looked at.
	watchEvery = time.Second
	// mostWatched bounds what is looked at: a folder may be the user's home.
	mostWatched = 10_000
	// watchRole stands for the role of machines that come from files.
	watchRole = "arn:aws:iam::" + sim.DefaultAccount + ":role/jobpoller"
)

// everyDefinition is the value of --express without one.
const everyDefinition = "all"

// watcher keeps the state machines of a server as the files have them.
type watcher struct {
	names  []string // files, templates and folders
	values map[string]string
	// express are the names of definitions without a template that are Express workflows.
	express []string
	// simulated has what --status says of statuses, also of those that a loop is checked for.
	simulated answers.Simulated
	// functions are those of --lambda.
	functions answers.Functions
	settings  *kit.Settings // of the config files, as the last load read them
	api       localAPI
	log       *serveLog

	statuses *saidStatuses // what the settings and --status say, for simulated jobs

	loaded map[string]string // where each machine stands, by its name
	said   map[string]bool   // problems and findings that the log has
	files  map[string]bool   // that definitions came from, beside those below the names
}

// run loads the machines, and again where a file has changed, until ctx ends.
func (w *watcher) run(ctx context.Context, ready chan<- struct{}) {
	before := w.fingerprint()
	w.load(ctx)
	close(ready)
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now := w.fingerprint(); !maps.Equal(before, now) {
			before = now
			w.load(ctx)
		}
	}
}

// stamp is what changes with a file.
type stamp struct {
	size     int64
	modified time.Time
}

// fingerprint is the stamps of all files that can have a definition.
func (w *watcher) fingerprint() map[string]stamp {
	found := map[string]stamp{}
	add := func(path string, info fs.FileInfo) {
		if info.Mode().IsRegular() && len(found) < mostWatched {
			found[path] = stamp{info.Size(), info.ModTime()}
		}
	}
	for _, name := range w.names {
		path, _, _ := strings.Cut(name, "#")
		_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // load says what cannot be read
			case len(found) >= mostWatched:
				return fs.SkipAll
			case entry.IsDir() && path != name && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
				return fs.SkipDir
			}
			if info, err := os.Stat(path); err == nil && slices.Contains(definitionEndings, strings.ToLower(filepath.Ext(path))) {
				add(path, info)
			}
			return nil
		})
	}
	for path := range w.files {
		if info, err := os.Stat(path); err == nil {
			add(path, info)
		}
	}
	return found
}

// definitionEndings are those of files that can have a definition.
var definitionEndings = []string{".json", ".yaml", ".yml", ".asl", ".template"}

// load reads the files, and creates and updates the machines. What is wrong goes to the
// log, and the machine stays as it is.
func (w *watcher) load(ctx context.Context) {
	said := w.said
	w.said, w.files = map[string]bool{}, map[string]bool{}
	tell := func(text string) {
		if !said[text] && !w.said[text] {
			w.log.warn("%s", terminal.Lines(text))
		}
		w.said[text] = true
	}
	w.settings = kit.NewSettings() // which may have changed
	definitions, err := w.settings.Load(ctx, w.names, source.Options{Values: w.values})
	waits := ""
	if errors.Is(err, fs.ErrNotExist) {
		waits = "; the server loads it when it is there"
	}
	if err != nil {
		tell(terminal.Sprintf("--watch: %s%s", terminal.ErrorText(kit.SourceError(err)), terminal.Lines(waits)))
	}
	machines := map[string]bool{} // names of this load
	for _, d := range definitions {
		m := &source.Machine{Definition: d}
		name := m.Definition.Title()
		w.files[d.File], w.files[d.Template], w.files[w.settings.Of(d.File).Config] = true, true, true
		if machines[name] {
			tell(terminal.Sprintf("%s: another definition has the name %s: rename one of the files or resources", d.Name, name))
			continue
		}
		machines[name] = true
	}
	for _, name := range w.express {
		if name != everyDefinition && !machines[name] && err == nil {
			tell(terminal.Sprintf("--express=%s: --watch has no state machine %s%s", name, name, nearest.DidYouMean(name, slices.Sorted(maps.Keys(machines)))))
		}
	}
	if err == nil {
		for _, problem := range w.findUnusedFunctions(definitions) {
			tell(problem)
		}
	}
	delete(w.files, "")
	done := map[string]bool{}
	for _, d := range definitions {
		name := d.Title()
		if done[name] || ctx.Err() != nil {
			continue
		}
		done[name] = true
		for _, line := range w.findings(ctx, d) {
			tell(line)
		}
		w.statuses.set(name, w.settings.Said(d.File, w.simulated.Said))
		if verb, err := w.put(ctx, name, d, machines); err != nil {
			tell(terminal.Sprintf("%s: the state machine %s is not loaded, the server keeps what it has: %s", d.Name, name, terminal.ErrorText(err)))
		} else if w.loaded[name] = d.Name; verb != "" {
			w.log.tell("%s %s of %s", verb, w.api.stateMachineARN(name), d.Name)
		}
	}
	for name, file := range w.loaded {
		if !machines[name] {
			tell(terminal.Sprintf("%s has no definition of the state machine %s now, or one that cannot be read: the server keeps what it has", file, name))
		}
	}
}

// findUnusedFunctions says which functions of --lambda no definition invokes. A machine that a
// client creates may.
func (w *watcher) findUnusedFunctions(definitions []*source.Definition) (problems []string) {
	var all []*source.Machine
	for _, d := range definitions {
		parsed, err := d.Parse()
		if err != nil {
			return nil // it may invoke any
		}
		all = append(all, &source.Machine{StateMachine: parsed, Definition: d})
	}
	if len(all) == 0 {
		return nil
	}
	for _, problem := range w.functions.FindUnused(all...) {
		problems = append(problems, terminal.Sprintf("--watch: %s. Only a machine that a client creates can invoke it", problem))
	}
	return problems
}

// kind is the type of a definition: that of its template, or by --express.
func (w *watcher) kind(d *source.Definition) asl.ExecutionType {
	if d.ID == "" && (slices.Contains(w.express, everyDefinition) || slices.Contains(w.express, d.Title())) {
		return asl.Express
	}
	return cmp.Or(d.Type, asl.Standard)
}

// findings are what lint reports, a line each.
func (w *watcher) findings(ctx context.Context, d *source.Definition) []string {
	found, err := lint.CheckDefinition(ctx, d, w.kind(d) == asl.Express, w.simulated.Said, w.settings)
	if err != nil {
		return []string{terminal.Sprintf("%s", terminal.ErrorText(err))}
	}
	var lines []string
	for _, f := range found {
		if f.Problem.Severity != diag.Note {
			lines = append(lines, terminal.Sprintf("%s: %s %s: %s", f.Place(), strings.ToLower(f.Problem.Severity.String()), f.Rule, f.Message()))
		}
	}
	return lines
}

// put creates a machine or updates it, and says which; empty if it is as it was.
func (w *watcher) put(ctx context.Context, name string, d *source.Definition, machines map[string]bool) (verb string, err error) {
	if _, err := d.Parse(); err != nil {
		return "", errors.New("its definition has errors")
	}
	text, err := w.fill(ctx, d, machines)
	if err != nil {
		return "", err
	}
	var there struct {
		Definition string `json:"definition"`
		Type       string `json:"type"`
	}
	kind := string(w.kind(d))
	arn := w.api.stateMachineARN(name)
	err = w.api.call(ctx, "DescribeStateMachine", map[string]any{"stateMachineArn": arn}, &there)
	refused, missing := errors.AsType[*refusedError](err)
	var answer struct{}
	switch {
	case missing && refused.code == "StateMachineDoesNotExist":
		err := w.api.call(ctx, "CreateStateMachine", map[string]any{
			"name": name, "definition": string(text), "roleArn": watchRole, "type": kind,
		}, &answer)
		if refused, ok := errors.AsType[*refusedError](err); ok && refused.code == "InvalidName" {
			err = fmt.Errorf("%w: rename the file, for AWS allows no such name", err)
		}
		return "created", err
	case err != nil:
		return "", err
	case there.Type != kind:
		return "", fmt.Errorf("its type is now %s, and the server has it as %s: delete that one first", kind, there.Type)
	case there.Definition == string(text):
		return "", nil
	}
	return "updated", w.api.call(ctx, "UpdateStateMachine", map[string]any{"stateMachineArn": arn, "definition": string(text)}, &answer)
}

// fill returns the definition with values for the placeholders that a deployment to
// this server fills in: the region, the account, functions and other machines by their
// logical IDs.
func (w *watcher) fill(ctx context.Context, d *source.Definition, machines map[string]bool) ([]byte, error) {
	parsed, err := d.Parse()
	if err != nil {
		return nil, err
	}
	values := maps.Clone(w.values)
	if values == nil {
		values = map[string]string{}
	}
	account, region := w.api.caller()
	filled := false
	for _, name := range kit.OpenPlaceholders(parsed, false) {
		if _, ok := values[name]; ok {
			continue
		}
		id, attribute, _ := strings.Cut(d.Reference(name), ".")
		function := answers.IDIn(d.Functions(), id)
		value := ""
		switch {
		case id == "AWS::Region":
			value = region
		case id == "AWS::Partition":
			value = "aws"
		case id == "AWS::AccountId":
			value = account
		case machines[id] && (attribute == "" || attribute == "Arn"):
			value = w.api.stateMachineARN(id)
		case (attribute == "Arn" || attribute == "" && function != id) && answers.IsFunctionName(function):
			value = "arn:aws:lambda:" + region + ":" + account + ":function:" + function
		case attribute == "" && d.Functions()[id].ID != "":
			value = id
		}
		if value != "" {
			values[name], filled = value, true
		}
	}
	if !filled {
		return d.Text, nil
	}
	for {
		again, err := w.settings.LoadOne(ctx, d.Name, source.Options{Values: values})
		if unused, ok := errors.AsType[*source.ValueError](err); ok {
			delete(values, unused.Name) // another machine's
			continue
		}
		if err != nil {
			return nil, err
		}
		return again.Text, nil
	}
}
