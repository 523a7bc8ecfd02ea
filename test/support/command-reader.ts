const lineEnd = '\r\n'

/** Reads the commands that a client sends to Redis over one connection: arrays of texts, in whatever pieces they come. */
export class CommandReader {
  private unread = Buffer.alloc(0)

  /** The commands that end in this piece. */
  commandsIn(piece: Buffer): string[][] {
    this.unread = Buffer.concat([this.unread, piece])
    const commands: string[][] = []
    for (;;) {
      const command = this.next()
      if (command === undefined) return commands
      commands.push(command)
    }
  }

  private next(): string[] | undefined {
    const words: string[] = []
    let at = 0
    const length = (): number | undefined => {
      const end = this.unread.indexOf(lineEnd, at)
      if (end < 0) return undefined
      const value = Number(this.unread.toString('latin1', at + 1, end))
      at = end + lineEnd.length
      return value
    }
    const count = length()
    if (count === undefined) return undefined
    while (words.length < count) {
      const bytes = length()
      if (bytes === undefined || this.unread.length < at + bytes + lineEnd.length) return undefined
      words.push(this.unread.toString('utf8', at, at + bytes))
      at += bytes + lineEnd.length
    }
    this.unread = this.unread.subarray(at)
    return words
  }
}
