// The filter that an answer in JSON can go through: jq.

package play

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// parseJQ returns the filter of "jq -c FILTER". (The keys of an object come out in
// the order of the alphabet.)
func parseJQ(args []string) (filter func(ctx context.Context, lines []string) []string, err error) {
	if len(args) != 2 || args[0] != "-c" {
		return nil, fmt.Errorf("want: jq -c FILTER, got %q", args)
	}
	query, err := gojq.Parse(args[1])
	return func(ctx context.Context, lines []string) (results []string) {
		var value any
		if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &value); err != nil {
			return []string{"jq: error: " + err.Error()}
		}
		for found := query.RunWithContext(ctx, value); ; {
			result, ok := found.Next()
			if err, failed := result.(error); failed {
				return append(results, "jq: error: "+err.Error())
			} else if !ok {
				return results
			}
			text, _ := gojq.Marshal(result) // what comes out of a query can be printed
			results = append(results, string(text))
		}
	}, err
}
