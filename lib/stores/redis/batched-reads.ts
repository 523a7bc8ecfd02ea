import type { RedisCommands } from './commands'

/** How the text below a key is read. */
export interface RedisReads {
  /** Null when there is none. */
  read(key: string): Promise<unknown>
}

/** Each read by itself, as a cluster needs it, whose keys are on many servers. */
export function readsOver(client: RedisCommands): RedisReads {
  return { read: (key) => client.call('GET', key) }
}

// A cluster that looks like one server, and a user of Redis who may not: neither will change its mind.
const refusal = /^(?:CROSSSLOT|NOPERM) /

/** Reads that wait for {@link send} and then go out as one command: a server does the work of one for all of them. */
export class ReadsTogether implements RedisReads {
  private isRefused = false
  private readonly together = new Batcher((keys: readonly string[]) => this.values(keys))

  constructor(
    private readonly client: RedisCommands,
    private readonly alone: RedisReads,
  ) {}

  read(key: string): Promise<unknown> {
    return this.isRefused ? this.alone.read(key) : this.together.add(key)
  }

  send(): void {
    this.together.flush()
  }

  private async values(keys: readonly string[]): Promise<readonly unknown[]> {
    if (keys.length === 1) return this.each(keys)
    try {
      const values = await this.client.call('MGET', ...keys)
      return Array.isArray(values) ? values : []
    } catch (error) {
      if (!(error instanceof Error) || !refusal.test(error.message)) throw error
      this.isRefused = true
      return this.each(keys)
    }
  }

  private each(keys: readonly string[]): Promise<readonly unknown[]> {
    return Promise.all(keys.map((key) => this.alone.read(key)))
  }
}

interface Waiting<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (trouble: unknown) => void
}

/** Questions that are collected until somebody says that they are all, and then asked as one. */
export class Batcher<Question, Answer> {
  private waiting: Waiting<Question, Answer>[] = []

  /** @param askAll answers in the order of the questions, of which there is at least one. */
  constructor(private readonly askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>) {}

  /** Settles some time after the next {@link flush}. */
  add(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => this.waiting.push({ question, resolve, reject }))
  }

  /** Asks what was collected since the last time. Trouble with it is trouble for each. */
  flush(): void {
    const asked = this.waiting
    if (asked.length === 0) return
    this.waiting = []
    const rejectAll = (trouble: unknown) => asked.forEach(({ reject }) => reject(trouble))
    this.askAll(asked.map(({ question }) => question)).then((answers) => {
      // Whom nobody answers would wait for ever.
      if (answers.length !== asked.length)
        return rejectAll(new Error(`Of ${asked.length} questions, ${answers.length} were answered.`))
      answers.forEach((answer, at) => asked[at]?.resolve(answer))
    }, rejectAll)
  }
}
