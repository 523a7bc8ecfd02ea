import { chromium, type Browser } from 'playwright-core'
import { chromiumProgram, requireProgram } from './program'

/** @param keepsPages whether Back shows a page as it was left, as a person's browser does. Playwright prevents that. */
export function launchChromium({ keepsPages = false } = {}): Promise<Browser> {
  return chromium.launch({
    ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [],
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
