interface Frame {
  readonly file: string
}

type Settled = { readonly value: unknown } | { readonly error: unknown }

/** What one walk came through. */
export interface Walk {
  /** In the order in which they were first entered. */
  readonly files: readonly string[]
  /** The different changes from one file to another: calls, returns and resumptions alike. A loop counts once. */
  readonly hops: number
  /** Different functions. */
  readonly functions: number
}

/** Notes in which file of the library the code that runs stands. Instrumented functions report to it. */
export class Journal {
  #stack: Frame[] = []
  #visits: string[] = []
  #functions = new Set<string>()

  /** Notes what runs from here on. */
  start(): void {
    this.#visits = []
    this.#functions = new Set()
  }

  /** What ran since `start`. */
  end(): Walk {
    const files = [...new Set(this.#visits)]
    const hops = new Set(this.#visits.slice(1).map((file, at) => `${this.#visits[at]} ${file}`))
    return { files, hops: hops.size, functions: this.#functions.size }
  }

  enter(file: string, name: string): Frame {
    const frame = { file }
    this.#stack.push(frame)
    this.#functions.add(`${file} ${name}`)
    this.#visit(file)
    return frame
  }

  leave(frame: Frame): void {
    const at = this.#stack.lastIndexOf(frame)
    if (at >= 0) this.#stack.splice(at)
    const caller = this.#stack.at(-1)
    if (caller !== undefined) this.#visit(caller.file)
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
    this.#stack.push(frame)
    this.#visit(frame.file)
    if ('error' in settled) throw settled.error
    return settled.value
  }

  #visit(file: string): void {
    if (this.#visits.at(-1) !== file) this.#visits.push(file)
  }
}
