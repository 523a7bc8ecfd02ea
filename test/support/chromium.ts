import { chromium, type Browser } from 'playwright-core'
import { chromiumProgram, requireProgram } from './program'

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: requireProgram(chromiumProgram),
    timeout: 120_000,
    // Root needs the first; the others keep it from talking to anyone but the servers of the test.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
