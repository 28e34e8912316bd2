// On every page: the transition from one page to the next (@view-transition in the stylesheet). The browser skips it if
// the next page follows too soon, is hidden, or takes too long. That is not an error of the page.

const ignore = () => {}

for (const name of ['pageswap', 'pagereveal']) {
  window.addEventListener(name, ({ viewTransition: transition }) => {
    transition?.updateCallbackDone.catch(ignore)
    transition?.ready.catch(ignore)
    transition?.finished.catch(ignore)
  })
}
