/** Every text of the pages in English. In the place of `{}` stands a name, a host or a link. */
export const en = {
  common: {
    signedInAs: 'Signed in as',
    returnsTo: 'Returns you to',
    appOnDevice: 'an app on this device ({})',
    noAccess: 'No access was given.',
  },
  consent: {
    title: 'Allow {} to access your account?',
    request: 'wants to access your account',
    requestAt: 'wants to access your account at {}',
    notYou: 'Not you?',
    unverifiedMark: 'Not verified',
    origin: 'an app of {}',
    notRegistered: 'This app is not registered here.',
    selfRegistered: 'This app registered itself here.',
    ownClaim: 'Its name is its own claim.',
    certain: 'All that is certain is that {} describes it.',
    deviceTitle: 'The access goes to a program on this device.',
    device: 'Cancel unless you have just started it yourself.',
    appTitle: 'The access goes to an app on this device.',
    app: 'Another app could take its place. Cancel unless you have just started it yourself.',
    permissions: 'It will be able to',
    noPermission: 'It asks for no particular permission.',
    dangerous: 'Think twice before you allow this',
    allowedBefore: 'You have allowed this already',
    dangerMark: 'Far-reaching',
    writeMark: 'Makes changes',
    optional: 'You may leave out what has a box: the app gets only what you tick.',
    choose: 'Please choose',
    obstacle: 'You cannot allow this now.',
    noAnswer: 'You have nothing here that this app could get access to.',
    manage: 'You can end the access at any time under {}.',
    manageLink: 'Connected applications',
    facts: {
      resource: 'Access to',
      claims: 'About you',
    },
    policy: 'Privacy policy',
    terms: 'Terms of service',
    cancel: 'Cancel',
    allow: 'Allow',
  },
  error: {
    refusedTitle: 'This request cannot go on',
    troubleTitle: 'This is not possible right now',
    nothingShared: 'Nothing was shared.',
    reference: 'Reference',
    details: 'Details for the makers of the app:',
    backTo: 'Back to {}',
    explanations: {
      requestOver: {
        happened: 'This page is too old, or was answered already.',
        advice: 'Go back to the app and start again there.',
      },
      anotherAccount: {
        happened: 'This question was for another account than the one that is signed in now.',
        advice: 'Go back to the app and start again there, with the account that you want to use.',
      },
      notSignedIn: {
        happened: 'You are not signed in any more.',
        advice: 'Go back to the app and start again there. You can then sign in.',
      },
      loginLost: {
        happened: 'Your sign-in did not reach this page.',
        advice: 'Allow cookies for this site, then go back to the app and start again there.',
      },
      appFault: {
        happened: 'The app sent a request that is not right. You have done nothing wrong.',
        advice: 'Tell the makers of the app about it. You can close this page.',
      },
      appUnknown: {
        happened: 'The app is not known here, or is blocked.',
        advice: 'If you trust the app, tell its makers about it. Otherwise, close this page.',
      },
      appUnreachable: {
        happened: 'What the app says about itself could not be read, so it could not be checked.',
        advice: 'Try again in a few minutes. If it happens again, tell the makers of the app.',
      },
      tooMany: {
        happened: 'There were too many attempts in a short time.',
        advice: 'Wait a few minutes, then reload this page.',
      },
      tooManyApps: {
        happened: 'Your account already gives access to as many unregistered apps as it may.',
        advice: 'Remove one that you do not use any more. Then go back to the app and start again there.',
      },
      unavailable: {
        happened: 'Something here does not work at the moment.',
        advice: 'Wait a moment, then reload this page.',
      },
      otherSite: {
        happened: 'Another site sent this answer, and not the page that asked you.',
        advice: 'Close this page. If you wanted to allow access, go back to the app and start again there.',
      },
      incompleteForm: {
        happened: 'Your answer did not arrive as the page asked for it.',
        advice: 'Go back to the page before this one and answer again.',
      },
      unprotected: {
        happened: 'The connection to this page is not encrypted.',
        advice: 'Close this page. Tell the operators of this site about it.',
      },
      other: {
        happened: 'The request cannot be carried out.',
        advice: 'Go back to the app and try again. If it happens again, tell the makers of the app.',
      },
    },
  },
  logout: {
    title: 'Sign out?',
    loggedInAs: 'You are signed in as {}.',
    asks: '{} asks to sign you out.',
    stay: 'Stay signed in',
    logOut: 'Sign out',
    doneTitle: 'You are signed out',
    done: 'You can close this page.',
    stayedTitle: 'You are still signed in',
    stayed: 'Nothing has changed.',
    backTo: 'Go back to {}',
  },
  connected: {
    title: 'Connected applications',
    intro: 'These apps can access your account. Remove those that you do not use any more.',
    none: 'No app can access your account.',
    permissions: 'It is able to',
    since: 'Allowed on {}',
    lastIssued: 'Last renewed on {}',
    remove: 'Remove',
    removeClient: 'Remove {}',
    removeTitle: 'Remove the access of {}?',
    removeConsequence:
      'The app then has to ask you again. What it has already read or changed stays as it is.',
    keep: 'Keep',
    removed: 'The access of {} is removed.',
    soon: 'It can take a short while until every service takes notice.',
    incomplete:
      'This list may lack apps that you allowed some time ago. They appear when they next renew their access.',
    previous: 'Back',
    next: 'More',
  },
  device: {
    title: 'Connect a device',
    intro: 'Enter the code that your device shows.',
    fromLink: 'A link has brought this code. Go on only if your own device shows the same code now.',
    code: 'Code',
    next: 'Continue',
    unknown:
      'This code is not known here, has expired or was used already. Compare it with your device, or start again there.',
    tooMany: 'There were too many wrong codes. Wait a few minutes, then try again.',
    warningTitle: 'Did somebody send you this code or link?',
    warning:
      'Then stop here: they want access to your account. Go on only with a code of a device that is in front of you, and that you have just started yourself.',
    request: 'wants to access your account from another device',
    requestedFrom: 'Requested from',
    requestedAt: 'Requested',
    approvedTitle: 'Your device has access',
    approved: 'Go back to your device: {} goes on there.',
    deniedTitle: 'The device got no access',
    denied: 'You can close this page.',
  },
  answered: {
    title: 'You allowed access already',
    done: 'This is done. Go back to {} to go on.',
    lost: 'If the app asks for access again, your answer was lost on its way: allow it once more.',
    goTo: 'Go to {}',
  },
  continue: {
    approvedTitle: 'You allowed access',
    refusedTitle: 'No access was given',
    oneStep: 'One step is left: go back to {}.',
    continue: 'Continue',
    linkIsYours: 'The link is yours alone: it holds the access you gave.',
  },
  insecureRedirect: {
    title: 'The way back is not protected',
    unprotected:
      'The app you came from is reached over a connection without encryption. Others on the network can read and change what you send there.',
    unprotectedAccess:
      'The app you came from is reached over a connection without encryption. Others on the network can read and change what you send there, and could use the access that you just allowed.',
    nothingSent: 'Nothing was sent yet.',
    stopAccess: 'To stop here, close this page: the app then gets no access.',
    stop: 'To stop here, close this page: the app then learns nothing.',
    continue: 'Continue without protection',
  },
  unverified: {
    notChecked: 'It came from an app that nobody here has checked.',
    trouble: 'Something here does not work at the moment.',
    tryAgain: 'Wait a moment, then reload this page to try again.',
    careful:
      'Go back only if you have just come from there. Otherwise, close this page: somebody could want to lead you there.',
    goBack: 'Go back to the app',
  },
}

/** Every text of the pages in one language. Each language has `{}` where English has it. */
export type PageTexts = typeof en

/** Why a request ended on the page of errors, as far as a person needs to know. */
export type ErrorKind = keyof PageTexts['error']['explanations']
