import { NotConnected } from './connection'
import { beginDeviceLogin, hasTokens, pollDeviceLogin } from './device-login'

// A command line that logs in, as on a machine that you reach by SSH. npm run demo prints how to start it.
const [issuer = 'http://localhost:3000', resourceServer = 'http://localhost:3002'] = process.argv.slice(2)
const clientId = 'remote-shell'

async function logIn(): Promise<void> {
  let polled: Awaited<ReturnType<typeof pollDeviceLogin>> = await beginDeviceLogin(issuer, clientId)
  console.log(`Open ${polled.verificationUri} and enter ${polled.userCode}`)
  while (!hasTokens(polled)) {
    const { interval } = polled
    await new Promise((resolve) => setTimeout(resolve, interval * 1000))
    polled = await pollDeviceLogin(issuer, clientId, polled)
  }
  const photos = await fetch(`${resourceServer}/photos`, {
    headers: { Authorization: `Bearer ${polled.accessToken}` },
  })
  console.log(await photos.text())
}

logIn().catch((error: unknown) => {
  console.error(error instanceof NotConnected ? `Lumen says ${error.code}.` : error)
  process.exitCode = 1
})
