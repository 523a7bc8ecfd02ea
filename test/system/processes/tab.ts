import type { BrowserContext, Page, Response } from 'playwright-core'
import { follow, press } from '../../support/browser/follow'
import { answeredBy } from '../../support/nginx'
import type { OwnerStage } from '../../support/owners/stage'

/** What an owner answers on the consent page. */
export interface Answer {
  readonly workspace: 'Engine' | 'Loom'
  /** Whether the owner ticks the box of the optional scope. */
  readonly prints?: boolean
}

/** A tab in which owners read and answer consent pages. */
export class Tab {
  /** The process that has answered the page before the eyes of the owner. */
  private process = ''

  private constructor(
    readonly page: Page,
    private readonly stage: OwnerStage,
  ) {
    page.on('response', (response) => {
      const process = processOf(response)
      // Neither an error of a page nor a page of the client is a question.
      if (process !== '' && response.request().isNavigationRequest() && response.ok()) this.process = process
    })
  }

  static async in(context: BrowserContext, stage: OwnerStage): Promise<Tab> {
    return new Tab(await context.newPage(), stage)
  }

  /** Begins at the client, and ends at the consent page or at the login. */
  async open(state: string): Promise<void> {
    await this.page.goto(this.stage.requestOf(state))
  }

  async signIn(name: string): Promise<void> {
    await this.page.getByLabel('Name').fill(name)
    await press(this.page, 'Sign in')
  }

  /** Fills in the form and leaves it. */
  async fillIn({ workspace, prints = false }: Answer): Promise<void> {
    await this.page.getByLabel(workspace).check()
    await this.page.getByLabel('Print your photos').setChecked(prints)
  }

  /** Presses a button of a page of the server, for the other process. */
  async press(name: 'Allow' | 'Cancel' | 'Remove'): Promise<void> {
    const asked = this.process
    await this.stage.leadPast(asked)
    const decided = this.page.waitForResponse((response) => response.request().method() === 'POST')
    await press(this.page, name)
    if (processOf(await decided) === asked) throw new Error('The answer went to the process of the question.')
  }

  /** Goes back to the page before, as it was left. */
  async back(): Promise<void> {
    await this.page.goBack({ waitUntil: 'commit' })
    await this.page.getByRole('button', { name: 'Allow' }).waitFor()
  }

  async allow(answer: Answer): Promise<void> {
    await this.fillIn(answer)
    await this.press('Allow')
  }

  /** Opens the page of connected applications, and the question whether to remove this one. */
  async askToRemove(client: string): Promise<void> {
    await this.page.goto(`${this.stage.issuer}/authorizations`)
    await follow(this.page, () => this.page.getByRole('link', { name: `Remove ${client}` }).click())
  }

  heading(): Promise<string> {
    return this.page.getByRole('heading', { level: 1 }).innerText()
  }

  /** What a page says, and where its only way out leads. */
  async trouble(): Promise<{ readonly says: string; readonly wayBack: string }> {
    const says = await this.page.locator('.card').innerText()
    await follow(this.page, () => this.page.locator('.actions a').click())
    return { says, wayBack: await this.heading() }
  }
}

const processOf = (response: Response): string => response.headers()[answeredBy] ?? ''
