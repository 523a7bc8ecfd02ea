import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContext } from 'playwright-core'
import { launchChromium } from '../../support/chromium'
import { type OwnerStage, startOwnerStage } from '../../support/owners/stage'
import { type Answer, Tab } from './tab'

let browser: Browser
let stage: OwnerStage
beforeAll(async () => {
  stage = await startOwnerStage()
  browser = await launchChromium({ keepsPages: true })
})
afterAll(async () => {
  await browser.close()
  await stage.stop()
})

let context: BrowserContext
let state: string
let [ada, grace] = ['', '']
beforeEach(async () => {
  state = randomUUID()
  ada = `ada-${state}`
  grace = `grace-${state}`
  context = await browser.newContext()
})
afterEach(() => context.close())

const openTab = () => Tab.in(context, stage)

/** A tab with the consent page before an owner who has just signed in. */
async function askedTab(owner = ada): Promise<Tab> {
  await context.request.post(`${stage.issuer}/login`, { form: { name: owner }, maxRedirects: 0 })
  const tab = await openTab()
  await tab.open(state)
  return tab
}

/** What tokens are good for if this owner has given this answer. */
const grantOf = (owner: string, { workspace, prints = false }: Answer) => ({
  subject: owner,
  scope: ['photos:read', ...(prints ? ['photos:print'] : [])],
  workspace: `${owner}/${workspace}`,
})

/** What came to the client for a request, and what its tokens are good for. */
const outcome = async () => ({
  answers: stage.client.answers(state),
  granted: await stage.granted(state),
})
const oneCode = (owner: string, answer: Answer) => ({ answers: ['code'], granted: [grantOf(owner, answer)] })

const engine: Answer = { workspace: 'Engine', prints: true }
const loom: Answer = { workspace: 'Loom' }

describe('Behind nginx, with the question from one process and the answer to the other, an owner', () => {
  test('who reloads the page grants what the page then says', async () => {
    const tab = await askedTab()
    await tab.fillIn(engine)
    await tab.page.reload()
    await tab.allow(loom)
    expect(await outcome()).toEqual(oneCode(ada, loom))
    expect(await stage.countOf(ada)).toBe(1)
  })

  test('who goes back and allows another learns that it is done, and the first answer stays', async () => {
    const tab = await askedTab()
    await tab.allow(engine)
    await tab.back()
    await tab.allow(loom)
    expect(await tab.trouble()).toEqual({
      says: expect.stringContaining('You allowed access already'),
      wayBack: 'At home',
    })
    expect(await outcome()).toEqual(oneCode(ada, engine))
    expect(await stage.countOf(ada)).toBe(1)
  })

  test('who is somebody else by "Not you?" grants what is theirs, and the page of the first owner nothing', async () => {
    const [tab, other] = [await askedTab(), await openTab()]
    await other.open(state)
    await other.page.getByRole('link', { name: 'Not you?' }).click()
    await other.signIn(grace)
    await other.fillIn(loom)
    await tab.allow(engine)
    expect(await tab.trouble()).toEqual({
      says: expect.stringMatching(
        /This question was for another account[^]*Go back to the app and start again there[^]*Back to Photo Book/,
      ),
      wayBack: 'At home',
    })
    await other.press('Allow')
    expect(await outcome()).toEqual(oneCode(grace, loom))
    expect([await stage.countOf(ada), await stage.countOf(grace)]).toEqual([0, 1])
  })

  test('who removes the app on the page of connected applications ends its access on both processes', async () => {
    const tab = await askedTab()
    await tab.allow(engine)
    expect(await stage.statuses(state)).toEqual([200, 200])
    await tab.askToRemove('Photo Book')
    await tab.press('Remove')
    await tab.page.getByText('The access of Photo Book is removed.').waitFor()
    expect(await stage.statuses(state)).toEqual([401, 401])
    expect(await stage.countOf(ada)).toBe(0)
  })

  test('sees all this without one warning of a process', () => {
    for (const host of stage.hosts) expect(host.output()).toMatch(/^port \d+\n$/)
  })
})
