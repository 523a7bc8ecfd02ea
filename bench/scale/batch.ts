const digits = 8

/** Commands in one packet, each for an authorization of its own, which is written in anew before each sending. */
export class Batch {
  /** What goes over the wire. */
  readonly bytes: Buffer
  private readonly places: readonly number[]

  /** @param id that of the authorization in the words; its last digits are what is written in. */
  constructor(
    words: readonly string[],
    id: string,
    readonly commands: number,
  ) {
    const command = encoded(words)
    this.bytes = Buffer.from(command.repeat(commands), 'latin1')
    const place = command.indexOf(id) + id.length - digits
    this.places = Array.from({ length: commands }, (_, at) => at * command.length + place)
  }

  /** @param first the number of the first authorization; the others follow. */
  address(first: number): void {
    this.places.forEach((place, at) => {
      this.bytes.write(String(first + at).padStart(digits, '0'), place, 'latin1')
    })
  }
}

// The form in which clients of Redis send: a count, and each word with its length.
function encoded(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
}
