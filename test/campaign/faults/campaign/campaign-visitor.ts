import { credentialsOf, Visitor, type Habits, type Pairs, type Rhythm } from '../visitor'
import type { Recorder } from '../recorder'

/** A visitor that is sometimes a machine, and sometimes a client that registers itself. */
export class CampaignVisitor extends Visitor {
  constructor(
    recorder: Recorder,
    random: () => number,
    rhythm: Rhythm,
    habits: Habits,
    private readonly mix: readonly [owners: number, machines: number, registrants: number],
  ) {
    super(recorder, random, rhythm, habits)
  }

  protected override async visit(): Promise<void> {
    const [owners, machines] = this.mix
    const choice = this.random()
    if (choice < owners) await super.visit()
    else if (choice < owners + machines) await this.work()
    else await this.register()
  }

  /** Gets a token for itself, uses it, and revokes it. */
  private async work(): Promise<void> {
    const { line, answer } = await this.recorder.grant(await this.nextServer())
    const [accessToken] = credentialsOf(answer)
    if (accessToken !== undefined) await this.use(line, accessToken)
  }

  private async use(line: number, accessToken: string): Promise<void> {
    this.line = line
    while (!this.rhythm.signal.aborted && this.random() < 0.7)
      await this.once(this.random() < 0.5 ? 'guard' : 'introspect', accessToken)
    if (this.random() < 0.2) return
    await this.insist('revokeOwn', accessToken)
    await this.once('guard', accessToken)
  }

  protected override async live(code: string, pairs: Pairs): Promise<void> {
    const { line } = this
    // A resource server acts in the name of the owner: what it gets lives on when the owner's tokens end.
    const exchanged =
      this.random() < 0.3
        ? await this.recorder.exchange(await this.nextServer(), line, pairs[0][0])
        : undefined
    await super.live(code, pairs)
    // After the end of the line nothing is exchanged any more.
    if (this.random() < 0.3) await this.recorder.exchange(await this.nextServer(), line, pairs[0][0])
    if (exchanged !== undefined) await this.use(exchanged.line, exchanged.accessToken)
  }

  private async register(): Promise<void> {
    this.line = this.recorder.newLine()
    const [registration] = await this.insist('register', '')
    if (registration === undefined) return
    while (!this.rhythm.signal.aborted && this.random() < 0.6)
      await this.once(this.random() < 0.5 ? 'configure' : 'authenticate', registration)
    if (this.random() < 0.2) return
    await this.insist('unregister', registration)
    await this.once(this.random() < 0.5 ? 'configure' : 'authenticate', registration)
  }
}
