import { boundsPage } from './bounds'
import { errorsPage } from './errors'
import { eventsPage } from './events'
import { lintPage } from './lint'
import { optionsPage } from './options'
import { warningsPage } from './warnings'

/** The pages that the code decides. */
export const pages: readonly { readonly path: string; readonly page: () => string }[] = [
  { path: 'docs/options.md', page: optionsPage },
  { path: 'docs/errors.md', page: errorsPage },
  { path: 'docs/events.md', page: eventsPage },
  { path: 'docs/warnings.md', page: warningsPage },
  { path: 'docs/lint.md', page: lintPage },
  { path: 'docs/bounds.md', page: boundsPage },
]
