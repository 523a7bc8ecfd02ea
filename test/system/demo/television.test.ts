import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startDemo, type Demo } from '../../../demo/demo'
import { press } from '../../support/browser/follow'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { ResourceOwner } from '../../support/clients/resource-owner'
import { waitUntil } from '../../support/wait-until'
import { AppVisitor, noticeIn } from './app-visitor'

let demo: Demo
beforeAll(async () => {
  demo = await startDemo({ ports: freePorts })
})
afterAll(() => demo.stop())

test('the television shows a code, and the photos once its owner has allowed it', async () => {
  const television = new AppVisitor(demo.television)
  await television.post('/connect')
  const page = await television.read('/')
  expect(page).toContain('http-equiv="refresh" content="2"')
  const link = /href="([^"]*user_code[^"]*)"/.exec(page)?.[1] ?? ''
  const owner = new ResourceOwner(demo)
  const question = await owner.confirmCode(link)
  expect(question).toMatch(/Television[\s\S]*See your photos/)
  expect(await owner.answerDevice(question, 'approve')).toContain('Your device has access')
  await waitUntil('the television shows the photos', async () =>
    (await television.read('/')).includes('/photos/first-light'),
  )
  expect(await television.read('/')).toContain('7 photos of Travels and Alpine Club, guarded by Lumen')
})

test.each(['light', 'dark'] as const)(
  'the code stands out, and fits a phone that is %s',
  async (colorScheme) => {
    const browser = await launchChromium()
    try {
      const page = await browser.newPage({ viewport: { width: 320, height: 640 }, colorScheme })
      await page.goto(demo.television)
      await press(page, 'Connect Lumen')
      const [code = ''] = (await page.locator('.code').allInnerTexts()).map((text) => text.trim())
      expect(code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
      const looksOf = (selector: string) =>
        page.evaluate<{ size: number; color: string }>(
          `(({ fontSize, color }) => ({ size: parseFloat(fontSize), color }))(getComputedStyle(document.querySelector('${selector}')))`,
        )
      const [shown, around] = [await looksOf('.code'), await looksOf('body')]
      expect(shown.size).toBeGreaterThanOrEqual(2 * around.size)
      expect(shown.color).toBe(around.color)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    } finally {
      await browser.close()
    }
  },
)

test('the command line logs in by a code, and prints the photos', async () => {
  const shell = spawn(
    process.execPath,
    [
      '-r',
      'esbuild-register',
      join(__dirname, '../../../demo/log-in.ts'),
      demo.authorizationServer,
      demo.resourceServer,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(shell, 'close')
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()
  const [, link, userCode] = /^Open (\S+) and enter (\S+)$/.exec(String((await lines.next()).value)) ?? []
  const owner = new ResourceOwner(demo)
  await owner.answerDevice(await owner.confirmCode(`${link}?user_code=${userCode}`), 'approve')
  expect(JSON.parse(String((await lines.next()).value))).toContainEqual(
    expect.objectContaining({ id: 'first-light' }),
  )
  expect(await ended).toEqual([0, null])
})

test('an owner who refuses keeps the television out', async () => {
  const television = new AppVisitor(demo.television)
  await television.post('/connect')
  const link = /href="([^"]*user_code[^"]*)"/.exec(await television.read('/'))?.[1] ?? ''
  const owner = new ResourceOwner(demo)
  expect(await owner.answerDevice(await owner.confirmCode(link), 'deny')).toContain(
    'The device got no access',
  )
  await waitUntil('the television says so', async () =>
    (noticeIn(await television.read('/')) ?? '').includes('You did not let the television in'),
  )
})
