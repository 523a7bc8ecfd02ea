import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundled } from '../../support/bundled'
import { silentListener } from '../../support/https-origin'

test('a document comes directly and from a certified origin, whatever the environment says [document-5]', async () => {
  const proxy = await silentListener()
  const url = `http://127.0.0.1:${proxy.port}`
  const env = {
    ...process.env,
    HTTPS_PROXY: url,
    https_proxy: url,
    NODE_USE_ENV_PROXY: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_NO_WARNINGS: '1',
  }
  const words = [bundled(join(__dirname, 'fetch-in-environment.ts'))]
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    cwd: join(__dirname, '../../..'),
    env,
  })
  expect(JSON.parse(stdout)).toEqual({ certified: 'document', uncertified: 'connection' })
  expect(proxy.connections()).toBe(0)
  await proxy.close()
})
