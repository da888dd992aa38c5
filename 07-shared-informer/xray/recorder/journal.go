// The state of the journal of our informer, from which handlers get their notifications.

package recorder

const maxShownChunks = 8

// A journalState counts notifications. It has the last chunks.
type journalState struct {
	end    int // how many notifications were ever appended
	chunks []chunk
}

// A chunk is a piece of the journal.
type chunk struct {
	First int `json:"first"` // the position of its first notification
	Size  int `json:"size"`
	Used  int `json:"used"`
}

// addNotification applies a notification that was appended to the last chunk.
func (j *journalState) addNotification() {
	j.end++
	if n := len(j.chunks); n > 0 {
		j.chunks[n-1].Used++
	}
}

// addChunk applies a new chunk. The journal reports a chunk after the notification that needed it.
// addNotification has counted that notification in the chunk before, which was full.
func (j *journalState) addChunk(size int) {
	added := chunk{First: j.end, Size: size}
	if n := len(j.chunks); n > 0 {
		last := &j.chunks[n-1]
		switch {
		case last.Used == 0:
			j.chunks = j.chunks[:n-1]
		case last.Used > last.Size:
			last.Used--
			added.First, added.Used = j.end-1, 1
		}
	}
	j.chunks = append(j.chunks, added)
	j.chunks = j.chunks[max(0, len(j.chunks)-maxShownChunks):]
}

// A journalView is the journal as the page shows it.
type journalView struct {
	End    int     `json:"end"`
	Chunks []chunk `json:"chunks"`
}

func (j *journalState) station() journalView { return journalView{End: j.end, Chunks: j.chunks} }
