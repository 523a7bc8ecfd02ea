interface Frame {
  readonly file: string
}

type Settled = { readonly value: unknown } | { readonly error: unknown }

/** What one walk came through. */
export interface Walk {
  /** In the order in which they were first entered. */
  readonly files: readonly string[]
  /** Different functions. */
  readonly functions: number
  /** Each call of a function. */
  readonly calls: number
  /** How often a function gave control back to its caller in the library: at its end, or at its first wait. */
  readonly returns: number
  /** The largest number of functions of the library that stood on the stack at once. */
  readonly depth: number
  /** Each change from one file to another: calls, returns and resumptions alike. */
  readonly changes: number
  /** The different ones among these changes. A loop counts once. */
  readonly differentChanges: number
}

/** Notes in which file of the library the code that runs stands. Instrumented functions report to it. */
export class Journal {
  #stack: Frame[] = []
  #visits: string[] = []
  #functions = new Set<string>()
  #calls = 0
  #returns = 0
  #depth = 0

  /** Notes what runs from here on. */
  start(): void {
    this.#visits = []
    this.#functions = new Set()
    this.#calls = 0
    this.#returns = 0
    this.#depth = 0
  }

  /** What ran since `start`. */
  end(): Walk {
    const changes = this.#visits.slice(1).map((file, at) => `${this.#visits[at]} ${file}`)
    return {
      files: [...new Set(this.#visits)],
      functions: this.#functions.size,
      calls: this.#calls,
      returns: this.#returns,
      depth: this.#depth,
      changes: changes.length,
      differentChanges: new Set(changes).size,
    }
  }

  enter(file: string, name: string): Frame {
    const frame = { file }
    this.#calls += 1
    this.#functions.add(`${file} ${name}`)
    this.#push(frame)
    return frame
  }

  leave(frame: Frame): void {
    const at = this.#stack.lastIndexOf(frame)
    if (at < 0) return
    this.#stack.splice(at)
    const caller = this.#stack.at(-1)
    if (caller === undefined) return
    this.#returns += 1
    this.#visit(caller.file)
  }

  async suspend(frame: Frame, awaited: unknown): Promise<Settled> {
    this.leave(frame)
    try {
      return { value: await awaited }
    } catch (error) {
      return { error }
    }
  }

  resume(frame: Frame, settled: Settled): unknown {
    this.#push(frame)
    if ('error' in settled) throw settled.error
    return settled.value
  }

  #push(frame: Frame): void {
    this.#stack.push(frame)
    this.#depth = Math.max(this.#depth, this.#stack.length)
    this.#visit(frame.file)
  }

  #visit(file: string): void {
    if (this.#visits.at(-1) !== file) this.#visits.push(file)
  }
}
