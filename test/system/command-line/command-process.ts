import { run } from '../../../lib/command-line/run'

// Runs each command that its parent tells it.
process.on('message', (words: readonly string[]) => {
  void run(words, {}).then((outcome) => process.send?.(outcome))
})
