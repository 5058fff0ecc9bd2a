package fix_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A context that ends is the error, wherever fix is then: it is no reason why a loop or a finding stays.
func TestCancel(t *testing.T) {
	t.Parallel()
	type work func(ctx context.Context, text []byte, read edit.Read, models typecheck.Models) error
	for name, do := range map[string]work{
		"repairs": func(ctx context.Context, text []byte, read edit.Read, load typecheck.Models) error {
			_, _, err := fix.RepairFile(ctx, text, read, fix.RepairOptions{Sure: true, Models: load})
			return err
		},
		"replacements": func(ctx context.Context, text []byte, read edit.Read, load typecheck.Models) error {
			_, _, err := fix.ApplyFile(ctx, text, read, fix.Options{Models: load})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("testdata/repair/typo-before-a-forgotten-failure.asl.json")
			require.NoError(t, err)
			// run lets the context end at a step: a reading of the text, or of a model. It returns how many there are.
			run := func(last int) (steps int, err error) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				step := func() {
					if steps++; steps == last {
						cancel()
					}
				}
				read := func(file []byte) (*source.Definition, error) {
					step()
					return reader(t, "machine.asl.json")(file)
				}
				err = do(ctx, text, read, func(service string) (*catalog.Service, error) {
					step()
					return models.Load(service)
				})
				return steps, err
			}
			steps, err := run(0)
			require.NoError(t, err)
			require.Greater(t, steps, 3)
			for last := steps; last > 0; last -= race.Of(steps/6, steps/2) {
				_, err := run(last)
				require.ErrorIs(t, err, context.Canceled, "at step %d of %d", last, steps)
			}
		})
	}
}
