// The filter that an answer in JSON can go through: jq.

package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"
)

// parseJQ returns the filter of jq's arguments, which are -c, or -cR for lines that
// are no JSON, and the filter. (The keys of an object come out in the order of the
// alphabet.)
func parseJQ(args []string) (filter func(ctx context.Context, lines []string) []string, err error) {
	if len(args) != 2 || args[0] != "-c" && args[0] != "-cR" {
		return nil, fmt.Errorf("want: jq -c FILTER, or jq -cR FILTER, got %q", args)
	}
	query, err := gojq.Parse(args[1])
	if err != nil {
		return nil, fmt.Errorf("jq would refuse this: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("jq would refuse this: %w", err)
	}
	return func(ctx context.Context, lines []string) []string {
		if args[0] == "-cR" {
			lines = quoted(lines)
		}
		results, err := runJQ(ctx, code, strings.Join(lines, "\n"))
		if err != nil {
			results = append(results, "jq: error: "+err.Error())
		}
		return results
	}, nil
}

// quoted makes a JSON string of each line.
func quoted(lines []string) (values []string) {
	for _, line := range lines {
		value, _ := json.Marshal(line) // of a string: no error
		values = append(values, string(value))
	}
	return values
}

// runJQ puts each value of the text through the filter, and returns the lines
// of what comes out.
func runJQ(ctx context.Context, code *gojq.Code, text string) (lines []string, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		var value any
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return lines, nil
		case err != nil:
			return lines, err
		}
		results := code.RunWithContext(ctx, value)
		for {
			result, ok := results.Next()
			if !ok {
				break
			}
			if err, failed := result.(error); failed {
				return lines, err
			}
			printed, err := gojq.Marshal(result)
			if err != nil {
				return lines, err
			}
			lines = append(lines, string(printed))
		}
	}
}
