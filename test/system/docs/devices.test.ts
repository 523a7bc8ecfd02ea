import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { consentFormOf } from '../../support/flows/consent-form'
import { Flow } from '../../support/flows/flow'
import { freePort } from '../../support/mcp/free-port'

const root = join(__dirname, '../../..')
const page = readFileSync(join(root, 'docs/guides/devices.md'), 'utf8')
const files = ['devices.ts', 'device-client.ts']

test.each(files)('the guide of devices shows %s, which the tests run', (file) => {
  expect(page).toContain(`\`\`\`ts\n${readFileSync(join(root, 'docs/examples', file), 'utf8')}\`\`\``)
})

test('the server and the device of the guide: the code that the device prints brings it the photos of its owner', async () => {
  const issuer = `http://localhost:${await freePort()}`
  const env = { ...process.env, ISSUER: issuer, PORT: new URL(issuer).port }
  const server = fork('docs/examples/devices.ts', {
    cwd: root,
    env,
    execArgv: ['-r', 'esbuild-register', '-r', './test/support/tell-port.js'],
  })
  const ended = once(server, 'exit')
  await once(server, 'message')
  const device = fork('docs/examples/device-client.ts', {
    cwd: root,
    env,
    silent: true,
    execArgv: ['-r', 'esbuild-register'],
  })
  try {
    if (device.stdout === null) throw new Error('The device prints nothing.')
    const lines = createInterface({ input: device.stdout })[Symbol.asyncIterator]()
    const prompt = String((await lines.next()).value)
    const [, link = '', userCode = ''] = /^Open (\S+) and enter (\S+)$/.exec(prompt) ?? []
    const { pathname, origin } = new URL(link)
    const flow = new Flow(origin)
    const { fields } = consentFormOf(await flow.open(pathname), pathname)
    const question = await flow.submit(pathname, { ...fields, user_code: userCode })
    expect(question.text).toContain('See your photos')
    await flow.submit(pathname, { ...consentFormOf(question, pathname).fields, decision: 'approve' })
    expect(JSON.parse(String((await lines.next()).value))).toEqual({ photosOf: 'u-1815' })
  } finally {
    device.kill()
    server.kill()
    await ended
  }
})
