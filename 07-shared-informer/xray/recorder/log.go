// The state of the log of our informer, from which handlers get their notifications.

package recorder

const maxShownChunks = 8

// A logState counts notifications. It has the last chunks.
type logState struct {
	end    int // how many notifications were ever appended
	chunks []chunk
}

// A chunk is a piece of the log.
type chunk struct {
	First int `json:"first"` // the position of its first notification
	Size  int `json:"size"`
	Used  int `json:"used"`
}

// addNotification applies a notification that was appended to the last chunk.
func (l *logState) addNotification() {
	l.end++
	if n := len(l.chunks); n > 0 {
		l.chunks[n-1].Used++
	}
}

// addChunk applies a new chunk. The log reports a chunk after the notification that needed it. addNotification has
// counted that notification in the chunk before, which was full.
func (l *logState) addChunk(size int) {
	added := chunk{First: l.end, Size: size}
	if n := len(l.chunks); n > 0 {
		last := &l.chunks[n-1]
		switch {
		case last.Used == 0:
			l.chunks = l.chunks[:n-1]
		case last.Used > last.Size:
			last.Used--
			added.First, added.Used = l.end-1, 1
		}
	}
	l.chunks = append(l.chunks, added)
	l.chunks = l.chunks[max(0, len(l.chunks)-maxShownChunks):]
}

// A logView is the log as the page shows it.
type logView struct {
	End    int     `json:"end"`
	Chunks []chunk `json:"chunks"`
}

func (l *logState) station() logView { return logView{End: l.end, Chunks: l.chunks} }
