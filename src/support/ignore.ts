/** Does nothing: a listener for errors that are reported elsewhere. Without a listener they would end the process. */
export function ignore(): void {}
