package tests_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
)

// creating is a table that never becomes active.
type creating struct {
	latency time.Duration
	calls   int
	limit   context.CancelFunc // called when a waiter calls without end
}

const endless = 100

func (c *creating) DescribeTable(ctx context.Context, _ *dynamodb.DescribeTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	if c.calls++; c.calls > endless {
		c.limit()
		return nil, ctx.Err()
	}
	time.Sleep(c.latency) //nolint:forbidigo // virtual time
	return &dynamodb.DescribeTableOutput{Table: &types.TableDescription{TableStatus: types.TableStatusCreating}}, nil
}

// wait runs a waiter in virtual time and says how many calls it made and when
// it gave up.
func wait(t *testing.T, latency time.Duration, run func(ctx context.Context, table *creating) error) string {
	t.Helper()
	var cell string
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		table := &creating{latency: latency, limit: cancel}
		start := time.Now()
		require.Error(t, run(ctx, table))
		elapsed := time.Since(start).Round(time.Millisecond)
		if table.calls > endless {
			cell = fmt.Sprintf("never ends: over %d calls at %s", endless, elapsed)
		} else {
			cell = fmt.Sprintf("%s, %d calls", elapsed, table.calls)
			if table.calls == 1 {
				cell = strings.TrimSuffix(cell, "s")
			}
		}
	})
	return cell
}

// The table of docs/guide/wait.md: when the SDK's own waiter and this one give up.
// Both wait for the same table with the same delays, 20 s and up, and draw the
// shortest delay each time.
func TestStockWaiterAtItsLimit(t *testing.T) {
	t.Parallel()
	exists := pollcore.MustNew("TableExists",
		pollcore.Succeed(pollcore.Output("Table.TableStatus").Is("ACTIVE")),
		pollcore.Again(pollcore.ErrorType("ResourceNotFoundException")),
		pollcore.Delay(20*time.Second, 20*time.Second))
	in := &dynamodb.DescribeTableInput{TableName: new("orders")}
	stock := func(total time.Duration) func(context.Context, *creating) error {
		return func(ctx context.Context, table *creating) error {
			return dynamodb.NewTableExistsWaiter(table, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = 20*time.Second, 20*time.Second }).
				Wait(ctx, in, total)
		}
	}
	ours := func(total time.Duration) func(context.Context, *creating) error {
		return func(ctx context.Context, table *creating) error {
			_, err := pollcore.Wait(ctx, exists, in, total, pollcore.Call(table.DescribeTable))
			if errors.Is(err, pollcore.ErrTimedOut) || errors.Is(err, pollcore.ErrCanceled) {
				return err
			}
			return nil
		}
	}
	page, err := os.ReadFile("../docs/guide/wait.md")
	require.NoError(t, err)
	for _, total := range []time.Duration{30 * time.Second, 5 * time.Minute} {
		row := fmt.Sprintf("| %s | %s | %s | %s | %s |", total,
			wait(t, 0, stock(total)), wait(t, 50*time.Millisecond, stock(total)),
			wait(t, 0, ours(total)), wait(t, 50*time.Millisecond, ours(total)))
		require.True(t, strings.Contains(string(page), row), "docs/guide/wait.md lacks the row\n%s", row) //nolint:testifylint // Contains would print all of it
	}
}
