import { Duplex } from 'node:stream'

/**
 * One end of a connection in memory. What one turn of the event loop writes arrives together in a later one, as over a
 * socket: else a request would run within the write of the answer before it, and the event loop would never turn.
 */
class PipeEnd extends Duplex {
  /** Servers ask for it, for their limits. */
  readonly remoteAddress = '127.0.0.1'
  private otherEnd: PipeEnd | undefined
  private onTheWay: Buffer[] = []

  static connect(one: PipeEnd, two: PipeEnd): void {
    one.otherEnd = two
    two.otherEnd = one
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.onTheWay.push(chunk) === 1) setImmediate(() => this.deliver())
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.otherEnd?.push(null)
    done(error)
  }

  private deliver(): void {
    const [first, ...more] = this.onTheWay
    this.onTheWay = []
    if (first !== undefined) this.otherEnd?.push(more.length === 0 ? first : Buffer.concat([first, ...more]))
  }
}

/** Both ends of a connection in memory. */
export function pipe(): readonly [Duplex, Duplex] {
  const ends = [new PipeEnd(), new PipeEnd()] as const
  PipeEnd.connect(...ends)
  return ends
}
