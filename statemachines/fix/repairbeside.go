package fix

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// isBeside tells whether an answer of a run has another value of a member that does not tell the status.
func isBeside(r *trial.Run) bool {
	return slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Beside != "" })
}

// failsBeside tells whether a run does not succeed any more that succeeded by such a value.
func failsBeside(r trial.Run) bool {
	return isBeside(&r) && r.Before.Status == string(sim.StatusSucceeded) && r.After.Status != r.Before.Status
}

// rowsBeside say how runs end with such values, where the line about the status does not say it.
func rowsBeside(report *trial.Report, line string) string {
	var rows []string
	for _, r := range report.Outside() {
		i := slices.IndexFunc(r.Kinds, func(k trial.Kind) bool { return k.Beside != "" })
		if i < 0 {
			continue
		}
		ends := describeEnd(r.Before) + " -> " + describeEnd(r.After)
		row := "; status " + r.Kinds[i].Value + " and " + r.Kinds[i].Beside + ": " + ends
		if describeEnd(r.Before) != describeEnd(r.After) && !tellsEnds(line, ends) && !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	return strings.Join(rows, "")
}

// tellBeside is a line for a right word that shows only in answers with another member beside the status; else empty.
func (t *candidate) tellBeside(report *trial.Report) string {
	rows := rowsBeside(report, "")
	if !t.respells || rows == "" {
		return ""
	}
	return t.about + ": " + strings.TrimPrefix(rows, "; ")
}

// tellsEnds tells whether a part of a line is about ends: those of another error are others.
func tellsEnds(line, ends string) bool {
	return slices.ContainsFunc(strings.Split(line, "; "), func(part string) bool { return strings.HasSuffix(part, ": "+ends) })
}
