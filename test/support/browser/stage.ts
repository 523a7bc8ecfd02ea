import type { Express } from 'express'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../chromium'
import { startServer } from '../start-server'

export interface BrowserStage {
  readonly browser: () => Browser
  /** Lets an application listen until the end of the test: its origin. */
  readonly listen: (app: Express) => Promise<string>
}

/** Chromium for the tests of a file, and servers for each of them. */
export function browserStage(): BrowserStage {
  let browser: Browser | undefined
  const stops: (() => Promise<void>)[] = []
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })
  afterAll(() => browser?.close())
  return {
    browser: () => {
      if (browser === undefined) throw new Error('Chromium starts before the first test.')
      return browser
    },
    listen: async (app) => {
      // The browser asks for it by itself.
      app.get('/favicon.ico', (_request, response) => void response.status(204).end())
      const { port, stop } = await startServer(app)
      stops.push(stop)
      return `http://127.0.0.1:${port}`
    },
  }
}
