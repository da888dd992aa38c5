package recorder

import "encoding/json"

// encode encodes a value that can always be encoded.
func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
