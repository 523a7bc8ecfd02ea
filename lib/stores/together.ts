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
