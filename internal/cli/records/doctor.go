package records

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// doctorOptions are the flags of "jobpoller records doctor".
type doctorOptions struct {
	store         storeFlags
	retentionDays int
	output        string
}

// newDoctorCommand is "jobpoller records doctor".
func newDoctorCommand() *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the store of the start records, your permissions, the clock and quotas",
		Long: `Doctor CALLS AWS with your credentials. It checks what the Lambda functions need:

  store       the bucket or table answers, and you may read records
  conditions  you may write records, and a write whose condition does not hold is
              refused; for this, doctor writes a record of its own
  callbacks   the table makes transactions, which Tasks need that wait for a callback
  removal     a record of doctor that is left, if it could not remove it
  lifecycle   old records go away, and not before they may
  clock       this machine's clock agrees with AWS's
  quota       Lambda has room for the functions; not of an emulator

Permissions are checked for you, not for the roles of the functions, which need
s3:GetObject, s3:PutObject and s3:ListBucket, or dynamodb:GetItem and
dynamodb:PutItem. To remove its record doctor needs s3:DeleteObject or
dynamodb:DeleteItem, which the functions do not. Each finding says what to do
about it.

Exit codes: 0 all is well, or there are only notes and warnings; 1 something is
wrong; 2 wrong usage; 4 could not reach the store.`,
		Example: `  jobpoller records doctor --bucket my-records
  jobpoller records doctor --table records --retention-days 90 -o json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDoctor(c, o) },
	}
	c.Flags().IntVar(&o.retentionDays, "retention-days", 0, "`DAYS` that the functions keep records (else "+handler.EnvRetentionDays+", or 60)")
	o.store.addTo(c)
	kit.AddOutput(c, &o.output)
	kit.CompleteNothing(c, "retention-days")
	return c
}

// healthFinding is what a check of doctor found. Its JSON members are a contract: see
// docs/reference/json.md.
type healthFinding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"` // "ok", or as lint's
	Message  string `json:"message"`
	Do       string `json:"do,omitempty"`
}

// healthy is the severity of a check that found nothing wrong.
const healthy = "ok"

func runDoctor(c *cobra.Command, o doctorOptions) error {
	if err := kit.CheckOutput(o.output); err != nil {
		return kit.Usage("%w", err)
	}
	if c.Flags().Changed("retention-days") && o.retentionDays < 1 {
		return kit.Usage("--retention-days must be at least 1, is %d", o.retentionDays)
	}
	if o.retentionDays == 0 {
		days := os.Getenv(handler.EnvRetentionDays)
		n, err := strconv.Atoi(cmp.Or(days, "0"))
		if err != nil {
			return kit.Usage("%s must be a whole number, is %q", handler.EnvRetentionDays, days)
		}
		o.retentionDays = cmp.Or(n, int(handler.DefaultRetention.Hours()/24)) //nolint:mnd // a day
	}
	if err := o.store.validate(); err != nil {
		return kit.Usage("%w", err)
	}
	cfg, err := o.store.aws.Configuration(c.Context(), false)
	if err != nil {
		return kit.ConfigurationError(err)
	}
	dates := kit.NewDateReader(cfg.HTTPClient)
	cfg.HTTPClient = dates
	store, err := o.store.storeOf(cfg)
	if err != nil {
		return err
	}
	d := &doctor{store: store, dates: dates, retentionDays: o.retentionDays}
	d.examine(c.Context())
	if c.Context().Err() != nil {
		return kit.WithCode(kit.ExitInterrupted, fmt.Errorf("interrupted after %s", kit.Plural(len(d.found), "check")))
	}
	if o.output == "json" {
		err = kit.WriteJSON(c.OutOrStdout(), d.found)
	} else {
		_, err = io.WriteString(c.OutOrStdout(), healthText(d.found))
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if d.unreached {
		return &kit.ExitError{Code: kit.ExitUnknown}
	}
	for _, f := range d.found {
		if f.Severity == diag.Error.String() || f.Severity == diag.Danger.String() {
			return &kit.ExitError{Code: kit.ExitFailed}
		}
	}
	return nil
}

func healthText(found []healthFinding) string {
	var b strings.Builder
	for _, f := range found {
		terminal.Fprintf(&b, "%-7s  %-10s  %s\n", f.Severity, f.Check, f.Message)
		if f.Do != "" {
			terminal.Fprintf(&b, "%-7s  %-10s  do: %s\n", "", "", f.Do)
		}
	}
	return b.String()
}
